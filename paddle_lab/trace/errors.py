"""Errors that a person can get when opening a trace."""

from __future__ import annotations


class TraceFileError(ValueError):
    """A file that cannot be opened as a trace; the message says why and what to do."""
