"""FIGURES.md, written from the results of a run of all benchmarks. It measures nothing.

``python benchmarks/figures_page.py`` writes the page again from ``figures.json``.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, number, rows_of, told

OURS = "Paddle Lab"


@dataclass
class Run:
    """One run of all benchmarks."""

    facts: dict[str, str]
    """Date, machine, versions: the head of the page."""
    parts: list[Part] = field(default_factory=list)

    @property
    def rows(self) -> list[Figure]:
        """All rows, in the order in which they were measured."""
        return [row for part in self.parts for row in part.rows]


@dataclass
class Part:
    """What one script measured."""

    command: str
    seconds: float
    load: str
    """Load averages before it began."""
    rows: list[Figure] = field(default_factory=list)
    printed: str = ""
    """The Markdown that it printed."""
    failure: str = ""
    """Why it failed, ``""`` if it did not."""


def write_run(run: Run, path: Path) -> None:
    """Write a run as JSON."""
    path.write_text(json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n")


def read_run(path: Path) -> Run:
    """Read what :func:`write_run` wrote."""
    stored = json.loads(path.read_text())
    parts = [Part(**{**part, "rows": rows_of(part["rows"])}) for part in stored["parts"]]
    return Run(stored["facts"], parts)


def page(run: Run, *, pictures: bool = True) -> str:
    """Return the page in Markdown."""
    lines = [
        "# Figures",
        "",
        "Written by `make bench`; [README.md](README.md) says how to read it.",
    ]
    lines += ["", "| | |", "|---|---|"]
    lines += [f"| {name} | {_cell(value)} |" for name, value in run.facts.items()]
    lines += ["", "## What must hold", "", *_bars(run.rows)]
    lines += ["", "## Side by side", "", *_side_by_side(run.rows)]
    lines += ["", "[README.md](README.md) says what is not alike, and cannot be made so."]
    if pictures:
        lines += [
            "",
            "<picture>",
            '  <source media="(prefers-color-scheme: dark)" srcset="figures.dark.svg">',
            '  <img alt="The table above, a mark for each tool" src="figures.light.svg">',
            "</picture>",
        ]
    lines += ["", "## Everything else", "", *_others(run.rows)]
    lines += ["", "## Commands, and what each printed", ""]
    for part in run.parts:
        lines += _part(part)
    return "\n".join(lines).rstrip() + "\n"


def _bars(rows: list[Figure]) -> list[str]:
    lines = ["| graph | what | figure | bar | holds |", "|---|---|---:|---:|---|"]
    for row in rows:
        if row.bar is not None:
            sign = "≥" if row.at_least else "≤"
            holds = "yes" if row.holds else "**no**"
            bar = f"{sign} {number(row.bar, row.unit)}"
            cells = (row.subject, row.what, told(row), bar, holds)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def compared(rows: list[Figure]) -> dict[tuple[str, str], dict[str, Figure]]:
    """Return the rows that several tools have, by graph and figure, then by tool."""
    by_row: dict[tuple[str, str], dict[str, Figure]] = {}
    for row in rows:
        by_row.setdefault((row.subject, row.what), {})[row.tool] = row
    return {key: tools for key, tools in by_row.items() if len(tools) > 1}


def _side_by_side(rows: list[Figure]) -> list[str]:
    table = compared(rows)
    tools = sorted({tool for row in table.values() for tool in row}, key=lambda t: (t != OURS, t))
    used = [tool for tool in tools if any(tool in row for row in table.values())]
    lines = [f"| graph | what | {' | '.join(used)} |", f"|---|---|{'---:|' * len(used)}"]
    for (subject, what), row in table.items():
        cells = [subject, what, *(told(row[tool]) if tool in row else "" for tool in used)]
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def _others(rows: list[Figure]) -> list[str]:
    shared = compared(rows)
    lines = ["| graph | what | tool | figure | note |", "|---|---|---|---:|---|"]
    for row in rows:
        if row.bar is None and (row.subject, row.what) not in shared:
            note = "" if row.value is None else row.note
            cells = (row.subject, row.what, row.tool, told(row), note)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    return lines


def _part(part: Part) -> list[str]:
    state = f" {part.failure}." if part.failure else ""
    lines = [f"### `{part.command}`", "", f"{part.seconds:.0f} s, load {part.load} before.{state}"]
    # The script's own headings go below this one.
    printed = [f"##{line}" if line.startswith("#") else line for line in part.printed.splitlines()]
    return [*lines, "", *printed, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    folder = Path(__file__).parent
    (folder / "FIGURES.md").write_text(page(read_run(folder / "figures.json")))


if __name__ == "__main__":
    main()
