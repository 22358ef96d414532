"""Writes the flight record of this process: files that contain the last ops."""
