"""Paddle's own files of graphs, stacks and its log, joined into a record."""
