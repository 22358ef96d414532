"""Builds the tables of the record from a recorder's rows, once the trace has ended."""
