"""From an error to advice."""

from __future__ import annotations

import re
from collections.abc import Collection

from paddle_lab.error_help.known_error import ErrorHelp, KnownError, known_errors
from paddle_lab.words import language

_LONGEST_TEXT = 20_000
"""Paddle's texts can hold whole C++ stacks; what went wrong stands at their beginning or end."""


def error_help(
    described: str, *, explained: Collection[str] = (), reported: bool = True
) -> list[ErrorHelp]:
    """Return what to do about an error, in the language that findings speak.

    Parameters
    ----------
    described
        The error as a trace keeps it: ``"ValueError: its text"``.
    explained
        Kinds of findings that are told already; advice that says the same is left out.
    reported
        Whether to return advice on errors for which notebooks show a report of its own.

    Returns
    -------
    list of ErrorHelp
        At most one: where two rows of the table fit, the first is meant.
    """
    found = _look_up(described)
    if found is None:
        return []
    known, match = found
    if not set(known.explained_by).isdisjoint(explained) or (known.is_reported and not reported):
        return []
    return [known.help(match, language())]


def kinds_that_explain(described: str) -> Collection[str]:
    """Return the kinds of findings that say of an error what the table does, and its line."""
    found = _look_up(described)
    return () if found is None else found[0].explained_by


def _look_up(described: str) -> tuple[KnownError, re.Match[str]] | None:
    type_name, _, text = described.partition(": ")
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT // 2]}\n{text[-_LONGEST_TEXT // 2 :]}"
    for known in known_errors():
        match = known.match(type_name, text)
        if match is not None:
            return known, match
    return None
