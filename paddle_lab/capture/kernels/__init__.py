"""The times of kernels: from Paddle's profiler to the ops and grad nodes that called them."""
