"""Counters of memory read at a steady rate by a thread, kept in bounded room; no Paddle here."""
