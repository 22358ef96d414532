"""Advice on Paddle's errors, looked up in a table by the text of the error."""
