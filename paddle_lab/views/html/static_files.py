"""The built files of the front end in the package."""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from functools import cache
from pathlib import Path

from paddle_lab.words import say

_FOLDER = Path(__file__).parents[2] / "static"


def static_file(name: str) -> Path:
    """Return the path of a built front-end file.

    Raises
    ------
    FileNotFoundError
        If this installation lacks the file. The message says what to do.
    """
    path = _FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(say("errors.no_front_end", name=name))
    return path


def widget_module(name: str) -> Path | str:
    """Return a widget's built module: its text or, if anywidget should watch it, its path.

    anywidget keeps every widget of a watched file alive, to notify the widget of changes.

    Raises
    ------
    FileNotFoundError
        If this installation lacks the file; the message says what to do.
    """
    path = static_file(name)
    return path if os.environ.get("ANYWIDGET_HMR") else path.read_text(encoding="utf-8")


def packed_script(name: str) -> tuple[str, str]:
    """Return a built script as base64 of a zlib stream, and a hash that identifies the build.

    Raises
    ------
    FileNotFoundError
        If this installation lacks the file; the message says what to do.
    """
    path = static_file(name)
    return _packed(path, path.stat().st_mtime_ns)


@cache
def _packed(path: Path, _changed_ns: int) -> tuple[str, str]:
    script = path.read_bytes()
    build = hashlib.sha256(script).hexdigest()[:16]
    return base64.b64encode(zlib.compress(script, 9)).decode("ascii"), build
