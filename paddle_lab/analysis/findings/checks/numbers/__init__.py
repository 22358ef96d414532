"""Checks of values that are too large, too small, or of the wrong dtype."""
