"""The arguments of an op that are not tensors, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST_TEXT = 400


def attribute_text(attributes: Sequence[Any]) -> str:
    """Return ``"1, False, [2, 2], axis=-1"``. A pair that begins with text is a keyword."""
    parts = []
    for attribute in attributes:
        if is_keyword(attribute):
            parts.append(f"{attribute[0]}={_value_text(attribute[1])}")
        else:
            parts.append(_value_text(attribute))
    text = ", ".join(parts)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def is_keyword(attribute: Any) -> bool:
    """Tell whether an argument is a keyword argument: a pair of name and value."""
    return isinstance(attribute, tuple) and len(attribute) == 2 and isinstance(attribute[0], str)


def _value_text(value: Any) -> str:
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_value_text(item) for item in value[:32]) + "]"
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        text = ":".join("" if bound is None else _value_text(bound) for bound in bounds)
        return text.removesuffix(":")
    if value is ...:
        return "..."
    # str() of Paddle's dtypes and places is readable; the repr of other objects could be anything.
    kind = type(value)
    return str(value) if kind.__module__.startswith("paddle") else f"<{kind.__name__}>"
