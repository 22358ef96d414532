"""What a check found."""

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
    """What a check hands over; the kind and the usual advice are the check's."""

    place: Place
    message: Text | str
    severity: Severity
    op: int = -1
    """Where a click leads; -1 for none."""
    grad_node: int = -1
    marks: Sequence[Mark] = ()
    advice: Text | str | None = None
    """Where the check's own does not fit."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth knowing, and the line that did it."""

    kind: str
    """The check that found it: ``"inplace-modified"``."""
    severity: Severity
    message: str
    """One sentence that names the cause and its line."""
    advice: str
    """What to do."""
    file: str
    line: int
    """From 1; 0 where no line is known."""
    cell: int | None
    """Execution count of the notebook cell, None for a file."""
    code: str
    """The line's source."""
    op: int
    """Key of the op in ``trace.ops``, -1 for none."""
    grad_node: int
    """Row in the record's ``grad_nodes``, -1 for none."""
    marks: tuple[Mark, ...] = ()
    """What else the views point at."""

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
