"""One row of the table: an error of Paddle's, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from paddle_lab.words import Language, say

_LONGEST_WORD = 120
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class KnownError:
    """An error that Paddle raises, as ``errors.toml`` describes it."""

    id: str
    types: tuple[str, ...]
    """Names of the exception's class; none for any."""
    patterns: tuple[str, ...]
    """Regular expressions, one of which is found in the exception's text."""
    title: Mapping[Language, str]
    advice: Mapping[Language, str]
    source: str
    """Where the advice is from: a page, or the file of Paddle's that raises."""
    explained_by: tuple[str, ...] = ()
    """Kinds of findings that say the same, with the line."""
    is_reported: bool = False
    """Whether the notebook shows a report of its own for it."""

    @cached_property
    def _compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern, re.DOTALL) for pattern in self.patterns)

    def match(self, type_name: str, text: str) -> re.Match[str] | None:
        """Return where the error's text says that it is this one."""
        if self.types and type_name not in self.types:
            return None
        found = (pattern.search(text) for pattern in self._compiled)
        return next((match for match in found if match is not None), None)


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


def help_of(known: KnownError, match: re.Match[str], language: Language) -> ErrorHelp:
    """Return a row's advice with the words of the error in it."""
    words = match.groupdict()

    def word(placeholder: re.Match[str]) -> str:
        name = placeholder[1]
        if name not in words:
            return placeholder[0]
        found = " ".join((words[name] or "…").split())
        return found if len(found) <= _LONGEST_WORD else f"{found[: _LONGEST_WORD - 1]}…"

    title, advice = (_PLACEHOLDER.sub(word, text[language]) for text in (known.title, known.advice))
    return ErrorHelp(known.id, title, advice, known.source)
