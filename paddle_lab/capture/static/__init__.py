"""Reads static programs in memory, after they were built."""
