"""Finds advice for an error of Paddle, in the table ``errors.toml``."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from paddle_lab.words import language, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LONGEST_TEXT = 20_000
"""Paddle's texts can hold whole C++ stacks; the error itself is at their beginning or end."""
_LONGEST_WORD = 120
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class ErrorHelp:
    """Advice on the error that ended a trace."""

    id: str
    """The row of the table: ``"matmul-shape"``."""
    title: str
    """What happened, in a few words."""
    advice: str
    """What to do."""
    source: str
    """Where the advice is from: a page, or the file of Paddle's that raises."""

    def __str__(self) -> str:
        return say("errors.help", title=self.title, advice=self.advice)


def error_help(
    described: str, *, explained: Collection[str] = (), reported: bool = True
) -> list[ErrorHelp]:
    """Return advice on an error, in the language of :func:`paddle_lab.language`.

    Parameters
    ----------
    described
        The error as a trace stores it: ``"ValueError: its text"``.
    explained
        Kinds of findings that are shown already. Advice that would repeat them is omitted.
    reported
        Whether to return advice on errors for which notebooks show a report.

    Returns
    -------
    list of ErrorHelp
        The advice: at most one item.
    """
    row, match = _look_up(described)
    if match is None or not set(row.get("explained_by", ())).isdisjoint(explained):
        return []
    if row.get("is_reported") and not reported:
        return []
    words = {name: _word(text) for name, text in match.groupdict().items()}
    title, advice = (
        _PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), row[language()][key])
        for key in ("title", "advice")
    )
    return [ErrorHelp(row["id"], title, advice, row["source"])]


def kinds_that_explain(described: str) -> Collection[str]:
    """Return the kinds of findings that give the same advice as the table for an error."""
    row, _ = _look_up(described)
    kinds: list[str] = row.get("explained_by", [])
    return kinds


@cache
def known_errors() -> list[dict[str, Any]]:
    """Return the rows of the table. If two rows fit an error, the first one is used."""
    text = resources.files(__package__).joinpath("errors.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["error"]
    return rows


def _look_up(described: str) -> tuple[dict[str, Any], re.Match[str] | None]:
    type_name, _, text = described.partition(": ")
    if len(text) > _LONGEST_TEXT:
        text = f"{text[: _LONGEST_TEXT // 2]}\n{text[-_LONGEST_TEXT // 2 :]}"
    for row in known_errors():
        if type_name in row.get("types", (type_name,)):
            for pattern in row["patterns"]:
                match = re.search(pattern, text, re.DOTALL)
                if match is not None:
                    return row, match
    return {}, None


def _word(text: str | None) -> str:
    word = " ".join((text or "…").split())
    return word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"
