"""The allocator events that a trace holds while it runs, and the blocks they begin and end."""
