"""Answers about ``to_static``, static programs, and the export of models."""
