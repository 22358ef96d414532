"""Answers about ``to_static`` and static programs, and about a model's export."""
