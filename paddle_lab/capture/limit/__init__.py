"""Keeps a trace within its op limit, however many ops run."""
