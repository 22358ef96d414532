"""Counters of memory, read at a steady rate by a thread and kept in bounded room."""
