"""Errors that users can get when they open a trace."""

from __future__ import annotations


class TraceFileError(ValueError):
    """A file cannot be opened as a trace. The message says why and what to do."""
