"""Source code: stacks, their frames, and the statements on their lines."""
