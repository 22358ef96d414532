"""The allocator events that a trace holds while it runs, and the blocks that follow from them."""
