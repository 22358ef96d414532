"""Names and element sizes of Paddle's dtypes."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def describe(dtype: Any) -> tuple[str, int]:
    """Return a dtype's name without the module, and the bytes per element; 0 for ``None``."""
    if dtype is None:
        return "", 0
    name = str(dtype).removeprefix("paddle.")
    if name.startswith(("bool", "float8")):
        return name, 1
    digits = "".join(character for character in name if character.isdigit()) or "8"
    return name, int(digits) // 8
