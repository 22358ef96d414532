"""A fault of ours ends a trace, never the user's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.recorder.recorder import Recorder

_MOST_CAUSES: Final = 8


def attempt(recorder: Recorder, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Do something for a recorder; if it fails, the recorder stops and ``None`` is returned."""
    try:
        return action(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        recorder.abandon(error)
        return None


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
