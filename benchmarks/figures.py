"""What was measured, as rows: written to JSON for the page of figures, printed as Markdown."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured value."""

    subject: str
    """The tape or model it was measured on."""
    what: str
    """``"load"``, ``"open one block"``, …"""
    tool: str = "Paddle Lab"
    value: float | None = None
    """``None`` where there is none; the note then says why."""
    unit: str = "s"
    bar: float | None = None
    """What it must hold, in the same unit."""
    at_least: bool = False
    """Whether more is better."""
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is held; ``None`` without a bar, or where a tool has no bar."""
        if self.bar is None:
            return None
        if self.value is None:
            return False
        return self.value >= self.bar if self.at_least else self.value <= self.bar


class Figures:
    """Rows in the order in which they were measured.

    Parameters
    ----------
    path
        JSON file that is written anew after each row, so that a script's later fault loses none.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.rows: list[Figure] = []
        self._path = path

    def add(self, figure: Figure) -> None:
        """Take a row; say it on stderr, since some scripts run for minutes."""
        self.rows.append(figure)
        print(f"{figure.subject}, {figure.what}, {figure.tool}: {told(figure)}", file=sys.stderr)
        if self._path:
            self._path.write_text(json.dumps([asdict(row) for row in self.rows], indent=1))

    def print_table(self) -> None:
        """Print all rows as one table in Markdown."""
        print("| graph | what | tool | figure | bar | note |\n|---|---|---|---:|---:|---|")
        for row in self.rows:
            bar = "" if row.bar is None else number(row.bar, row.unit)
            note = "" if row.value is None else row.note
            print(f"| {row.subject} | {row.what} | {row.tool} | {told(row)} | {bar} | {note} |")


def read(path: Path) -> list[Figure]:
    """Read the rows that a script wrote."""
    return rows_of(json.loads(path.read_text()))


def rows_of(stored: list[dict[str, Any]]) -> list[Figure]:
    """Return stored rows; keys that a script added of its own are left out."""
    known = Figure.__dataclass_fields__
    return [Figure(**{key: value for key, value in row.items() if key in known}) for row in stored]


def told(figure: Figure) -> str:
    """Return a value with its unit, or why there is none."""
    if figure.value is None:
        return figure.note or "–"
    return number(figure.value, figure.unit)


def number(value: float, unit: str) -> str:
    """Return a value with three digits that count, and its unit."""
    if unit == "ms" and value >= 1000:
        value, unit = value / 1000, "s"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {'×' if unit == 'x' else unit}".rstrip()


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser with what every benchmark of `make bench` understands."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    parser.add_argument("--quick", action="store_true", help="few runs of few graphs")
    return parser
