"""Keeping frames of ours out of the tracebacks of the user's errors."""

from __future__ import annotations

from paddle_lab.capture.stacks.frame_kinds import OWN_FOLDER


def drop_frame(error: BaseException) -> None:
    """Take the calling frame out of the traceback of the error it has just caught.

    A hook calls this in its ``except`` branch, before it raises the error on.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def drop_lines(error: BaseException) -> None:
    """Take our frames out of the text of an error that C++ made of one in Python.

    Where a ``PyLayer`` or a hook raises, Paddle's error lists all frames below it, one per line.
    """
    text = error.args[0] if error.args else None
    if isinstance(text, str) and OWN_FOLDER in text:
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if not line.lstrip().startswith(OWN_FOLDER)]
        error.args = ("".join(kept), *error.args[1:])
