"""Suggestions for an unknown name: the nearest known name, or all known names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from paddle_lab.words import say


def suggestion(
    name: str,
    known: Sequence[str],
    *,
    key: str = "errors.it_has",
    listed: Sequence[str] | None = None,
    shown: Callable[[str], str] = str,
) -> str:
    """Return ``"did you mean 'check'?"``, or ``"it has check, grads"`` if no name is near.

    Parameters
    ----------
    name
        The unknown name.
    known
        The known names.
    key
        The key of the sentence that lists the names.
    listed
        The names to list. By default these are all known names.
    shown
        Formats the nearest name for the sentence.
    """
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return say("errors.near", name=shown(near[0]))
    told = known if listed is None else listed
    return say(key, known=say("lists.between").join(told))
