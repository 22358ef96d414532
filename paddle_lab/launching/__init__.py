"""Starts a run of several ranks with Paddle's launcher, and watches it."""
