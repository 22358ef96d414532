"""A finding, the line of code that caused it, and a list of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.words import Text, say

_LONGEST_CODE = 100


@dataclass(frozen=True)
class Place:
    """One line of a file or of a notebook cell."""

    file: str = ""
    line: int = 0
    """The line number, counted from 1; 0 if the line is unknown."""
    cell: int | None = None
    """Execution count of the notebook cell, None for a file."""
    code: str = field(default="", compare=False)
    """The statement that ran on the line, ``""`` if the trace does not contain the source."""
    where: str = ""
    """``"Cell 4, line 8"`` or ``"model.py:31"``."""

    @classmethod
    def of(cls, frame: Frame | None) -> Place:
        """Return the place of a frame; an empty place if there is no frame."""
        if frame is None:
            return cls()
        return cls(frame.file, frame.line, frame.cell, frame.statement, frame.where)

    def __str__(self) -> str:
        """Return the line as part of a sentence: ```h[1:2] = 3.3` (cell 4, line 8)``."""
        if not self.where:
            return say("findings.place.unknown")
        where = self.where
        if self.cell is not None:
            where = say("findings.place.cell", cell=self.cell, line=self.line)
        code = self.code.partition("  #")[0].rstrip()
        if not code:
            return where
        if len(code) > _LONGEST_CODE:
            code = f"{code[: _LONGEST_CODE - 1]}…"
        return say("findings.place.code", code=code, where=where)


Severity = Literal["error", "warning", "info"]
MarkRole = Literal["origin", "path", "cut", "failed", "related"]


@dataclass(frozen=True)
class Mark:
    """An op or a grad node that a finding marks in the graphs."""

    role: MarkRole
    op: int = -1
    grad_node: int = -1


@dataclass(frozen=True)
class Found:
    """A finding as a check returns it. The check's kind and its usual advice are added later."""

    place: Place
    message: Text | str
    severity: Severity
    op: int = -1
    """The op that a click on the finding shows; -1 for none."""
    grad_node: int = -1
    marks: Sequence[Mark] = ()
    advice: Text | str | None = None
    """The advice, if the check's usual advice does not fit."""


def found(
    key: str,
    place: Place,
    op: int = -1,
    *,
    severity: Severity = "warning",
    grad_node: int = -1,
    marks: Sequence[Mark] | None = None,
    advice: Text | str | None = None,
    **values: object,
) -> Found:
    """Return a finding at a line. Its text is ``findings.KEY``, with the line as a value.

    Without ``marks``, the op is marked as the origin.
    """
    if marks is None:
        marks = [Mark("origin", op, grad_node)] if op >= 0 else []
    message = Text(f"findings.{key}", place=place, **values)
    return Found(place, message, severity, op, grad_node, marks, advice)


def warning(key: str, place: Place, op: int = -1, **values: object) -> Found:
    """Return a warning at a line: see :func:`found`."""
    return found(key, place, op, **values)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Finding:
    """A problem, or a fact worth knowing, and the line that caused it."""

    kind: str
    """The name of the check, such as ``"inplace-modified"``."""
    severity: Severity
    message: str
    """One sentence that names the cause and the line."""
    advice: str
    """What the user can do about the problem."""
    file: str
    line: int
    """The line number, counted from 1; 0 if the line is unknown."""
    cell: int | None
    """Execution count of the notebook cell, None for a file."""
    code: str
    """The line's source."""
    op: int
    """Key of the op in ``trace.ops``, -1 for none."""
    grad_node: int
    """Row in the record's ``grad_nodes``, -1 for none."""
    marks: tuple[Mark, ...] = ()
    """Other ops and grad nodes that the views point at."""

    def __str__(self) -> str:
        values = {
            "severity": say(f"page.severity_in_text.{self.severity}"),
            "kind": self.kind,
            "message": self.message,
        }
        if not self.line:
            return say("reports.finding_without_place", **values)
        place = f"{self.file}:{self.line}"
        if self.cell:
            place = say("reports.place", cell=self.cell, line=self.line)
        return say("reports.finding", place=place, **values)


class FindingList(list[Finding]):
    """The findings of a trace: the worst first, and a cause before its consequences."""

    def __repr__(self) -> str:
        if not self:
            return say("reports.nothing_found")
        return "\n".join(f"{finding}\n    {finding.advice}" for finding in self)

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{say('reports.nothing_found')}</p>"
        items = "".join(
            f"<li><b>{say(f'page.severity_in_text.{finding.severity}')}</b> "
            f"{sentence_html(finding.message)}<br><small>{sentence_html(finding.advice)}</small></li>"
            for finding in self
        )
        return f"<ul>{items}</ul>"
