"""Runs code a second time from the state before the first run, and then restores all state."""
