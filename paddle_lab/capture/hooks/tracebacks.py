"""Keeps frames of this package out of the tracebacks of the user's errors."""

from __future__ import annotations

from paddle_lab.capture.stacks.frame_kinds import OWN_FOLDER


def drop_frame(error: BaseException) -> None:
    """Remove the calling frame from the traceback of the error that this frame has just caught.

    A hook calls this in its ``except`` branch, before it raises the error again.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def drop_lines(error: BaseException) -> None:
    """Remove our frames from the text of a C++ error that was made from a Python error.

    If a ``PyLayer`` or a hook raises, Paddle's error text lists all frames below it, one per line.
    """
    text = error.args[0] if error.args else None
    if isinstance(text, str) and OWN_FOLDER in text:
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if not line.lstrip().startswith(OWN_FOLDER)]
        error.args = ("".join(kept), *error.args[1:])
