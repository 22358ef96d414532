"""Reads the flight record of a process that died: the last ops and their lines."""
