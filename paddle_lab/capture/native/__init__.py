"""The C version of the capture's hot path, if it was built.

The time of a trace depends on the code around every op. In Python, most of that time is spent in
the interpreter. Every native part has a twin in Python with the same name and the same tests. The
twin's docstring describes the part. The Python twin runs if no C compiler was available, or if the
environment variable ``PADDLE_LAB_PURE_PYTHON`` is set.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, TypeVar

from paddle_lab.words import say

VERSION: Final = 8
"""Increase it if C and Python no longer fit earlier versions of each other.

A native part of another version is not used, because it was built from an older source. A warning
says so: without it a trace costs several times as much.
"""


def _load() -> ModuleType | None:
    if os.environ.get("PADDLE_LAB_PURE_PYTHON"):
        return None
    try:
        from paddle_lab.capture.native import _native
    except ImportError:
        return None
    if getattr(_native, "__version__", None) == VERSION:
        return _native
    warnings.warn(say("notices.native_old"), stacklevel=2)
    return None


NATIVE = _load()
"""The extension module, or ``None``."""

TWINS: dict[str, tuple[Any, Any]] = {}
"""Maps the name of a part to its Python version and its native version (or ``None``)."""

_Part = TypeVar("_Part", bound=Callable[..., Any])


def native_twin(part: _Part) -> _Part:
    """Return the native version of the same name if it was built, else the Python version."""
    # An outdated build of the native module may lack this part.
    native: Any = NATIVE and getattr(NATIVE, part.__name__, None)
    TWINS[part.__name__] = part, native
    return native or part
