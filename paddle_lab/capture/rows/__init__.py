"""Rows of integers that hooks write while ops run, and tables that map objects to numbers."""
