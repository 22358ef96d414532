"""Exceptions as text."""

from __future__ import annotations

from typing import Final

from paddle_lab.words import say

_MOST_CAUSES: Final = 8


def described(error: BaseException) -> str:
    """Return ``"ValueError: its text"``, or only the name if there is no text.

    If reading the text fails, the result says so.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001
        text = say("notices.fault.untellable")
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def described_with_causes(error: BaseException) -> str:
    """Return the same, and below it the errors that this one was raised from (``raise … from``).

    Errors that were being handled when this one was raised are left out.
    """
    texts: list[str] = []
    following: BaseException | None = error
    while following is not None and len(texts) < _MOST_CAUSES:
        texts.append(described(following))
        following = following.__cause__
    return "\nfrom ".join(texts)
