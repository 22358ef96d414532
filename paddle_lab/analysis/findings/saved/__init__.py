"""Tensors that grad nodes saved for backward, their changes, and the node that raised."""
