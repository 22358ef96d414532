"""The times of kernels, joined with the ops and grad nodes that called them."""
