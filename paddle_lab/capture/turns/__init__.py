"""Finds the call of a user's function and the loop iteration to which an op belongs."""
