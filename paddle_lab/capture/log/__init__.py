"""Paddle's own log (VLOG) while a trace records it."""
