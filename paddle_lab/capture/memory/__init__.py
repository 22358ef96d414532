"""Memory of a trace: Paddle's allocator events, joined with the trace's ops and tensors."""
