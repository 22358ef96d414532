"""Keeps the number of ops in a trace within a limit, however many ops run."""
