"""Checks that run over a record, and their findings: what is wrong and which line caused it."""
