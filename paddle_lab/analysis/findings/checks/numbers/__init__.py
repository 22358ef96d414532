"""Checks of the scale of numbers."""
