"""Where memory goes: Paddle's allocator events, joined with what a trace has seen."""
