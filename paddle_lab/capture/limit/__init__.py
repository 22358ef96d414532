"""Keeps a trace below its op limit, however many ops run."""
