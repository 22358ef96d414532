"""Python stacks: taken while ops run, and turned into frames, lines and source texts afterwards."""
