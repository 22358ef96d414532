"""A trace that keeps no more ops than it may, however many run."""
