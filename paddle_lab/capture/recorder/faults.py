"""What went wrong, as text."""

from __future__ import annotations

from typing import Final

from paddle_lab.words import say

_MOST_CAUSES: Final = 8


def described(error: BaseException) -> str:
    """Return ``"ValueError: its text"``, or its name alone where it has no text.

    Where asking for the text fails, that is said.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001
        text = say("notices.fault.untellable")
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def described_with_causes(error: BaseException) -> str:
    """Return the same, and below it the errors that this one was raised from (``raise … from``).

    What was being handled when an error came up is another matter, and is left out.
    """
    texts: list[str] = []
    following: BaseException | None = error
    while following is not None and len(texts) < _MOST_CAUSES:
        texts.append(described(following))
        following = following.__cause__
    return "\nfrom ".join(texts)
