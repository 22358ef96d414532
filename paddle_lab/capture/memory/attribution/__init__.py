"""Whose each block is, and what it is for."""
