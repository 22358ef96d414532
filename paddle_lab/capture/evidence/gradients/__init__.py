"""Statistics of the gradients in a backward pass, which hooks on grad nodes compute."""
