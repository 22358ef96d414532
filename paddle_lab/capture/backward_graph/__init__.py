"""The backward graph: its grad nodes, and the op that made each."""
