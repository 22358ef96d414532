"""Writes the flight record of this process: the ring of its last ops, in files."""
