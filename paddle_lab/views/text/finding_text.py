"""Findings in words, for static pictures and pages."""

from __future__ import annotations

import ntpath
from collections.abc import Iterator
from dataclasses import dataclass

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.registry import checks
from paddle_lab.analysis.tables.text_table import html_table
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SEVERITIES
from paddle_lab.words import say

SIGNS = {"error": "✕", "warning": "▲", "info": "ⓘ"}
"""The sign of each severity, for text without colour."""


@dataclass(frozen=True)
class FindingText:
    """A row of ``findings``, as text."""

    severity: str
    message: str
    advice: str
    where: str
    """``"Cell 4, line 8"``; ``""`` if no line is known."""

    @property
    def sign(self) -> str:
        """``"✕"`` for an error, ``"▲"`` for a warning, ``"ⓘ"`` for a note."""
        return SIGNS[self.severity]


def finding_texts(record: Record) -> list[FindingText]:
    """Return a record's findings, the worst first; none if it has no table of findings."""
    table = record.tables.get("findings")
    if table is None:
        return []
    columns = [table[name].tolist() for name in ("severity", "message", "advice")]
    places = [table[name].tolist() for name in ("file", "line", "cell")]
    return [
        FindingText(
            SEVERITIES[severity],
            record.text(message),
            record.text(advice),
            _where(record.text(file), line, cell),
        )
        for severity, message, advice, file, line, cell in zip(*columns, *places, strict=True)
    ]


def finding_counts(record: Record) -> str:
    """Return ``"1 error, 2 warnings"``, ``""`` if nothing was found."""
    severities = [finding.severity for finding in finding_texts(record)]
    counted = [(name, severities.count(name)) for name in SEVERITIES]
    return say("lists.between").join(
        say(f"page.findings.count_{name}", n=count) for name, count in counted if count
    )


def finding_lines(record: Record) -> list[str]:
    """Return the findings as lines of text, each with its advice below."""
    lines: list[str] = []
    for finding in finding_texts(record):
        lines.append(f"{finding.sign} {finding.message}")
        if finding.advice:
            lines.append(f"    {finding.advice}")
    if not lines:
        return []
    return [
        say("reports.findings", counts=finding_counts(record)),
        *(f"  {line}" for line in lines),
    ]


def _where(file: str, line: int, cell: int) -> str:
    if line < 1:
        return ""
    if cell >= 0:
        return say("reports.place", cell=cell, line=line)
    return f"{ntpath.basename(file)}:{line}"


class CheckList:
    """The checks, by name; a notebook shows them as a table."""

    def __iter__(self) -> Iterator[Check]:
        return iter(checks().values())

    def __len__(self) -> int:
        return len(checks())

    def __repr__(self) -> str:
        header, rows = self._table()
        blocks = []
        for kind, title, cost, is_on in rows:
            lines = ((kind, title), (f"    {header[2]}", cost), (f"    {header[3]}", is_on))
            told = [say("findings.list.line", name=name, text=text) for name, text in lines]
            blocks.append("\n".join(told))
        return "\n".join(blocks)

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[tuple[str, str, str, str]]]:
        header = [
            say("findings.list.check"),
            say("findings.list.looks_for"),
            say("findings.list.costs"),
            say("findings.list.is_on"),
        ]
        yes, no = say("findings.list.yes"), say("findings.list.no")
        rows = [
            (check.kind, check.title, check.cost, yes if set(check.needs) <= {"events"} else no)
            for check in self
        ]
        return header, rows
