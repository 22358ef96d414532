"""The results of a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text, say

Severity = Literal["error", "warning", "info"]
MarkRole = Literal["origin", "path", "cut", "failed", "related"]


@dataclass(frozen=True)
class Mark:
    """An op or a grad node that a finding points at in the graphs."""

    role: MarkRole
    op: int = -1
    grad_node: int = -1


@dataclass(frozen=True)
class Found:
    """A finding as a check returns it; the check adds its kind and its usual advice."""

    place: Place
    message: Text | str
    severity: Severity
    op: int = -1
    """The op that a click on the finding shows; -1 for none."""
    grad_node: int = -1
    marks: Sequence[Mark] = ()
    advice: Text | str | None = None
    """The advice, if the check's usual advice does not fit."""


@dataclass(frozen=True)
class Finding:
    """One problem, or one thing worth knowing, and the line that caused it."""

    kind: str
    """The check that found it: ``"inplace-modified"``."""
    severity: Severity
    message: str
    """One sentence that names the cause and its line."""
    advice: str
    """What to do."""
    file: str
    line: int
    """From 1; 0 if the line is unknown."""
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
