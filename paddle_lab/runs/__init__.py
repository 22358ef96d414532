"""Reads the directory of a distributed run, joins its ranks, and finds where they disagree."""
