"""Checks of things that should differ from step to step and do not."""
