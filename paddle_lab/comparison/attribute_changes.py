"""Finds which attributes of an op differ, from the two texts of all attributes."""

from __future__ import annotations

from paddle_lab.words import say

_OPENING, _CLOSING = "([{", ")]}"


def attribute_changes(one: str, other: str) -> tuple[str, str]:
    """Return the parts of both texts that differ: ``"axis=1"`` and ``"axis=2"``."""
    parts, others = _parts(one), _parts(other)
    lost = [part for part in parts if part not in others]
    new = [part for part in others if part not in parts]
    if not lost and not new:  # in another order
        lost, new = parts, others
    return ", ".join(lost) or say("errors.none"), ", ".join(new) or say("errors.none")


def _parts(text: str) -> list[str]:
    """Split a text at its outer commas."""
    parts, depth, begun = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if sign == "," and depth == 0:
            parts.append(text[begun:at].strip())
            begun = at + 1
    parts.append(text[begun:].strip())
    return [part for part in parts if part]
