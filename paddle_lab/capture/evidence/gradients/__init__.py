"""What is in the gradients that a backward pass hands on, looked at by hooks on grad nodes."""
