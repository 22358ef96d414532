"""Keeping frames of ours out of the tracebacks of the user's errors."""

from __future__ import annotations


def drop_frame(error: BaseException) -> None:
    """Take the calling frame out of the traceback of the error it has just caught.

    A hook calls this in its ``except`` branch, before it raises the error on.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
