"""Python stacks: recorded while ops run, and later decoded to frames, lines and source texts."""
