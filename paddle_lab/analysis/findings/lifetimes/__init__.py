"""Training steps, tensors that live longer than their step, what holds them, and their sizes."""
