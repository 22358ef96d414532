"""The hot path of the capture in C, where it was built.

What runs around every op decides what a trace costs, and most of that is not the work but Python's
way of doing it. Every part has a twin in Python with the same name and the same tests, which says
what the part is for; it runs where no C compiler was at hand, or where the environment variable
``PADDLE_LAB_PURE_PYTHON`` is set.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, TypeVar


def _load() -> ModuleType | None:
    if os.environ.get("PADDLE_LAB_PURE_PYTHON"):
        return None
    try:
        from paddle_lab.capture.native import _native
    except ImportError:
        return None
    return _native


NATIVE = _load()
"""The extension module, or ``None``."""

_Class = TypeVar("_Class", bound=type)


def native_twin(python_class: _Class) -> _Class:
    """Return the native class of the same name, which does the same, where it was built."""
    native: Any = NATIVE and getattr(NATIVE, python_class.__name__)
    return native or python_class
