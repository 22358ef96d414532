"""Answers about a trace: pure functions of its record, without Paddle and without a notebook."""
