"""Tells whether a file belongs to the user, to a library, to Paddle, or to this package."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType

from paddle_lab.trace.schema import FRAME_KINDS

USER = FRAME_KINDS.index("user")
LIBRARY = FRAME_KINDS.index("library")
PADDLE = FRAME_KINDS.index("paddle")

TRANSLATED = "to_static_tmp"
"""The folder of code that Paddle translates. Some of its lines have no line of the user's code."""
OWN_FOLDER = os.path.join(*Path(os.path.abspath(__file__)).parts[:-3], "")
# These files run a notebook cell or a script, so their callers are never the user's code.
_RUNNERS = (
    os.path.join("IPython", "core", "interactiveshell.py"),
    os.path.join("IPython", "core", "async_helpers.py"),
    "<frozen runpy>",
    os.path.join("lib", "runpy.py"),
)


def kind_of(file: str, paddle_folder: str) -> int:
    """Return :data:`USER`, :data:`LIBRARY` or :data:`PADDLE`.

    Parameters
    ----------
    file
        The file name of a code object.
    paddle_folder
        Folder of the paddle package, with a separator at its end.
    """
    if file.startswith(paddle_folder):
        return PADDLE
    if file.startswith(("<frozen", *_library_folders())):
        # A library folder may also be a virtual environment inside the user's project.
        return LIBRARY
    return USER


def is_own(file: str) -> bool:
    """Tell whether a file belongs to this package."""
    return file.startswith(OWN_FOLDER)


def is_runner(file: str) -> bool:
    """Tell whether a file runs cells or scripts, so that its callers are never the user's code."""
    return file.endswith(_RUNNERS)


def outermost_runner(frame: FrameType | None) -> FrameType | None:
    """Return the outermost frame that runs the same cell as ``frame``; ``frame`` if none does.

    IPython runs each statement of a cell in a new frame, so only frames around it run them all.
    """
    around = frame
    while around is not None and is_runner(around.f_code.co_filename):
        frame, around = around, around.f_back
    return frame


@lru_cache(maxsize=1)
def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]}
    folders.update(site.getsitepackages())
    folders.add(site.getusersitepackages())
    folders.add(os.path.join(sys.base_prefix, "lib", "python"))
    return tuple(os.path.join(folder, "") for folder in folders if folder)
