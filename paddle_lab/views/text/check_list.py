"""All checks as a table, in text and in HTML."""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.registry import checks
from paddle_lab.analysis.tables.text_table import html_table
from paddle_lab.words import say


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
