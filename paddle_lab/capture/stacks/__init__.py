"""Python stacks, recorded while ops run, and decoded later to frames, lines and source texts."""
