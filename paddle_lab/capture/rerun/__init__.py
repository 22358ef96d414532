"""Runs code again from the state before the first run, and then restores everything."""
