"""Rows that a person can read, as objects, as text and as data frames: ops, tensors, calls."""
