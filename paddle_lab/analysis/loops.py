"""Whether a line of source is inside a loop, told from indentation alone.

A parser would be exact, but Python's can be made to crash by hostile text, and a trace may come
from anyone.
"""

from __future__ import annotations

import re

from paddle_lab.trace.record import Record

_LOOP = re.compile(r"\s*(async\s+for|for|while)\b")
_SCOPE = re.compile(r"\s*(async\s+def|def|class)\b")


class LoopFinder:
    """Answers for the lines of the sources that a record carries.

    Parameters
    ----------
    record
        The trace.
    """

    def __init__(self, record: Record) -> None:
        self._lines: dict[tuple[int, int], dict[int, str]] = {}
        self._answers: dict[tuple[int, int, int], bool | None] = {}
        sources = record.sources
        for row in range(len(sources)):
            lines = self._lines.setdefault(
                (int(sources["file"][row]), int(sources["cell"][row])), {}
            )
            text = record.text(int(sources["text"][row]))
            lines.update(enumerate(text.splitlines(), int(sources["first_line"][row])))

    def is_in_loop(self, file: int, cell: int, line: int) -> bool | None:
        """Return whether a loop of the same function holds ``line``; None where it cannot tell.

        Parameters
        ----------
        file
            String code of the file.
        cell
            Execution count of the notebook cell, -1 for a file.
        line
            From 1.
        """
        question = (file, cell, line)
        if question not in self._answers:
            self._answers[question] = _is_in_loop(self._lines.get((file, cell), {}), line)
        return self._answers[question]


def _is_in_loop(lines: dict[int, str], line: int) -> bool | None:
    if line not in lines:
        return None
    indent = _indent(lines[line])
    if _LOOP.match(lines[line]):
        return True
    while indent:
        line -= 1
        if line not in lines:
            return None
        text = lines[line]
        if not text.strip() or _indent(text) >= indent:
            continue
        if _LOOP.match(text):
            return True
        if _SCOPE.match(text):
            return False
        indent = _indent(text)
    return False


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
