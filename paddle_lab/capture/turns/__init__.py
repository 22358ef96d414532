"""Finds the call of the user's function, and the loop iteration, that an op belongs to."""
