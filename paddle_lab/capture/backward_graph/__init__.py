"""The backward graph: the grad nodes, and the op that made each node."""
