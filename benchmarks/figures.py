"""Measured values as rows: written to JSON for the page of figures, printed as Markdown."""

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
    """The tape or model that was measured."""
    what: str
    """``"load"``, ``"open one block"``, …"""
    tool: str = "Paddle Lab"
    value: float | None = None
    """``None`` if there is no value; the note then says why."""
    unit: str = "s"
    bar: float | None = None
    """The limit that the value must meet, in the same unit."""
    at_least: bool = False
    """Whether the bar is a lower limit."""
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the value meets the bar; ``None`` if there is no bar, as for other tools."""
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
        JSON file that is rewritten after each row, so that no row is lost if the script fails.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.rows: list[Figure] = []
        self._path = path

    def add(self, figure: Figure) -> None:
        """Add a row, and print it on stderr, because some scripts run for minutes."""
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
    """Return stored rows, without keys that only one script uses."""
    known = Figure.__dataclass_fields__
    return [Figure(**{key: value for key, value in row.items() if key in known}) for row in stored]


def told(figure: Figure) -> str:
    """Return a value with its unit, or why there is none."""
    if figure.value is None:
        return figure.note or "–"
    return number(figure.value, figure.unit)


def number(value: float, unit: str) -> str:
    """Return a value with three significant digits and its unit."""
    if unit == "ms" and value >= 1000:
        value, unit = value / 1000, "s"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {'×' if unit == 'x' else unit}".rstrip()


def options(description: str) -> argparse.ArgumentParser:
    """Return a parser of the options that every benchmark of `make bench` has."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    parser.add_argument("--quick", action="store_true", help="few runs of few graphs")
    return parser
