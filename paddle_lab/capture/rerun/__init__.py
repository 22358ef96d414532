"""Runs code again from the state before its first run, and then restores everything."""
