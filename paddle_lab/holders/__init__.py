"""Finds what holds an object: a search from names that uses only ``gc.get_referents``."""
