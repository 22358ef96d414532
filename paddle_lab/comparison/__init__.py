"""Compares two traces: matches their ops, and finds where the traces first differ."""
