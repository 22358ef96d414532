"""The times of kernels, and the ops and grad nodes that called the kernels."""
