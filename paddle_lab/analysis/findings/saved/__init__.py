"""Tensors that grad nodes saved for backward, changes of these tensors, and the errors."""
