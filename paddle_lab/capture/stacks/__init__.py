"""Python stacks: recorded while ops run; later decoded to frames, lines and source texts."""
