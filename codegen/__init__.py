"""Writes the definitions that other languages share with Python: ``make generate``."""
