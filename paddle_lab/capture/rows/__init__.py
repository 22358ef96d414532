"""Rows of integers that hooks write while ops run, and tables that find objects among them."""
