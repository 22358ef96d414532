"""Computes values of a finished trace again, from what its code began with."""
