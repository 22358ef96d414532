"""Statistics of the gradients in a backward pass, taken by hooks on grad nodes."""
