"""Finds the names that keep an object alive, by following ``gc.get_referents``."""
