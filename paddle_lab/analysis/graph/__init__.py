"""The graph of a trace: which op feeds which, the tree of groups, and what is alike in it."""
