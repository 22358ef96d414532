"""Paddle's allocator events and the grad nodes that ran: from its profiler to columns."""
