"""Starts a run of several ranks, with Paddle's launcher or in a cluster, and watches the run."""
