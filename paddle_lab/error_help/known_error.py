"""The errors of Paddle's that are known, and what to do about each: ``errors.toml``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from paddle_lab.words import Language, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LONGEST_WORD = 120
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class KnownError:
    """An error that Paddle raises: a row of the table."""

    id: str
    types: tuple[str, ...]
    """Names of the exception's class; none for any."""
    patterns: tuple[re.Pattern[str], ...]
    """One of which is found in the exception's text."""
    title: Mapping[Language, str]
    advice: Mapping[Language, str]
    source: str
    """Where the advice is from: a page, or the file of Paddle's that raises."""
    explained_by: tuple[str, ...]
    """Kinds of findings that say the same, with the line."""
    is_reported: bool
    """Whether the notebook shows a report of its own for it."""

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> KnownError:
        """Return what a row of the file says."""
        english, chinese = row["en"], row["zh"]
        return cls(
            id=row["id"],
            types=tuple(row.get("types", ())),
            patterns=tuple(re.compile(pattern, re.DOTALL) for pattern in row["patterns"]),
            title={"en": english["title"], "zh": chinese["title"]},
            advice={"en": english["advice"], "zh": chinese["advice"]},
            source=row["source"],
            explained_by=tuple(row.get("explained_by", ())),
            is_reported=row.get("is_reported", False),
        )

    def match(self, type_name: str, text: str) -> re.Match[str] | None:
        """Return where the error's text says that it is this one."""
        if self.types and type_name not in self.types:
            return None
        found = (pattern.search(text) for pattern in self.patterns)
        return next((match for match in found if match is not None), None)

    def help(self, match: re.Match[str], language: Language) -> ErrorHelp:
        """Return the advice with the words of the error in it."""
        words = match.groupdict()

        def word(placeholder: re.Match[str]) -> str:
            name = placeholder[1]
            if name not in words:
                return placeholder[0]
            found = " ".join((words[name] or "…").split())
            return found if len(found) <= _LONGEST_WORD else f"{found[: _LONGEST_WORD - 1]}…"

        title, advice = (
            _PLACEHOLDER.sub(word, text[language]) for text in (self.title, self.advice)
        )
        return ErrorHelp(self.id, title, advice, self.source)


@dataclass(frozen=True)
class ErrorHelp:
    """What to do about the error that ended a trace."""

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


@lru_cache(maxsize=1)
def known_errors() -> tuple[KnownError, ...]:
    """Return the table's rows, in its order: where two fit, the first is the better one."""
    text = resources.files(__package__).joinpath("errors.toml").read_text(encoding="utf-8")
    return tuple(map(KnownError.of_row, tomllib.loads(text)["error"]))
