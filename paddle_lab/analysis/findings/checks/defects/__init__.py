"""Checks of known defects of Paddle."""
