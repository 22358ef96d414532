"""Where in the code: stacks, their frames, and the statements at their lines."""
