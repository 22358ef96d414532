"""Advice about too much memory: after an error, at a peak, and for leaks."""
