"""Paddle's own log (VLOG), and how a trace records it."""
