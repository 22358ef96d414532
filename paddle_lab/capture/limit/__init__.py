"""Limits the number of ops in a trace, however many ops run."""
