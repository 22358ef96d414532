"""Checks of values and objects that should differ, but are the same."""
