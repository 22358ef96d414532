"""Reads the flight record that a process left when it died: its last ops and their lines."""
