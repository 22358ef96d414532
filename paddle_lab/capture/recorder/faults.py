"""Exceptions as text."""

from __future__ import annotations

from typing import Final

from paddle_lab.words import say

_MOST_CAUSES: Final = 8


def described(error: BaseException) -> str:
    """Return ``"ValueError: message"``, or only the name if there is no message.

    If reading the message fails, the result says so.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001
        text = say("notices.fault.untellable")
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def described_with_causes(error: BaseException) -> str:
    """Describe an error, and after it the errors from which it was raised (``raise … from``).

    Errors that were merely being handled at that time are left out.
    """
    texts: list[str] = []
    following: BaseException | None = error
    while following is not None and len(texts) < _MOST_CAUSES:
        texts.append(described(following))
        following = following.__cause__
    return "\nfrom ".join(texts)
