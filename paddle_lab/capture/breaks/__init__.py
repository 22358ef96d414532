"""Finds where ``to_static`` splits a function or runs it eagerly, and why it compiled again."""
