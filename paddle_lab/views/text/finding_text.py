"""Findings as text, for static pictures and pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.registry import checks, is_default
from paddle_lab.analysis.findings.switches import switched_off
from paddle_lab.analysis.source.stacks import place
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
    """Return the findings of a record, the worst first; none without a table of findings."""
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
            place(record.text(file), line, cell) if line > 0 else "",
        )
        for severity, message, advice, file, line, cell in zip(*columns, *places, strict=True)
    ]


def finding_counts(record: Record) -> str:
    """Return a text such as ``"1 error, 2 warnings"``; ``""`` without findings."""
    severities = [finding.severity for finding in finding_texts(record)]
    counted = [(name, severities.count(name)) for name in SEVERITIES]
    return say("lists.between").join(
        say(f"page.findings.count_{name}", n=count) for name, count in counted if count
    )


def finding_lines(record: Record) -> list[str]:
    """Return the findings as lines of text. The advice of each is below it."""
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


class CheckList:
    """The checks, sorted by group and name. A notebook shows them as tables."""

    def __iter__(self) -> Iterator[Check]:
        return iter(checks().values())

    def __len__(self) -> int:
        return len(checks())

    def __repr__(self) -> str:
        _, _, costs, is_on = _CHECK_HEADER
        blocks = []
        for title, rows in self._groups():
            blocks.append(f"# {title}")
            for kind, looks_for, cost, shown in rows:
                lines = (
                    (kind, looks_for),
                    (f"    {_column(costs)}", cost),
                    (f"    {_column(is_on)}", shown),
                )
                told = [say("findings.list.line", name=name, text=text) for name, text in lines]
                blocks.append("\n".join(told))
        return "\n".join(blocks)

    def _repr_html_(self) -> str:
        header = [_column(name) for name in _CHECK_HEADER]
        return "".join(
            f"<h4>{escape(title)}</h4>{html_table(header, rows, numbers=())}"
            for title, rows in self._groups()
        )

    def _groups(self) -> list[tuple[str, list[tuple[str, str, str, str]]]]:
        """Return the groups of checks with the rows of their tables."""
        yes, no = _column("yes"), _column("no")
        off = switched_off()
        groups: dict[str, list[tuple[str, str, str, str]]] = {}
        for check in self:
            is_on = is_default(check) and check.kind not in off
            title, cost = _capitalised(check.title), _capitalised(check.cost)
            row = (check.kind, title, cost, yes if is_on else no)
            groups.setdefault(check.group, []).append(row)
        return [(say(f"findings.group.{name}"), rows) for name, rows in sorted(groups.items())]


_CHECK_HEADER = ("check", "looks_for", "costs", "is_on")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _column(name: str) -> str:
    return say(f"findings.list.{name}")
