"""The hot path of the capture in C, where it was built.

What runs around every op decides what a trace costs, and most of that is not the work but Python's
way of doing it. Every part has a twin in Python with the same name and the same tests, which says
what the part is for; it runs where no C compiler was at hand, or where the environment variable
``PADDLE_LAB_PURE_PYTHON`` is set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
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

TWINS: dict[str, tuple[Any, Any]] = {}
"""Of each part by name: what is written in Python, and the native one or ``None``."""

_Part = TypeVar("_Part", bound=Callable[..., Any])


def native_twin(part: _Part) -> _Part:
    """Return the native class or function of the same name, which does the same, where built."""
    native: Any = NATIVE and getattr(NATIVE, part.__name__)
    TWINS[part.__name__] = part, native
    return native or part
