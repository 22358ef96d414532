"""The owner and the kind of each block."""
