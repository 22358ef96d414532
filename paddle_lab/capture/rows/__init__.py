"""Rows of integers that hooks write while ops run, and tables to look up objects in them."""
