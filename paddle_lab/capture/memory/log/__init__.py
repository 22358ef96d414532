"""Paddle's allocator events, and the grad nodes that ran: the profiler's results as columns."""
