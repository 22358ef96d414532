"""Checks of steps that do not change what they should."""
