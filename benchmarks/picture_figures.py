"""The results of `first_picture.py`, as tables and as rows for the page of figures."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.figures import Figure
from benchmarks.traced_cells import Subject
from paddle_lab.views.html.static_files import static_file

SPANS = ("close", "payload", "fallback")
# The steps to a picture, by the page's marks. The page makes the layout while the kernel prepares
# what the notebook stores, and then displays it.
MOMENTS = {
    "comm": "data in the page",
    "display": "displayed",
    "drawn": "drawn",
}


@dataclass
class Runs:
    """The times of runs of one kind: the first run in a page, or later runs."""

    times_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ops: int = 0
    message_bytes: int = 0
    is_op_clicked: bool = False

    def median(self, name: str) -> str:
        """Return the median of a time."""
        return f"{statistics.median(self.times_ms[name]):,.0f}" if self.times_ms[name] else "–"


@dataclass
class Measured:
    """The results for one cell."""

    subject: Subject
    first: Runs = field(default_factory=Runs)
    again: Runs = field(default_factory=Runs)
    notebook_bytes: tuple[int, int] = (0, 0)
    """The bytes of the notebook saved without and with the widgets' state."""
    faults: list[str] = field(default_factory=list)
    """Errors on the page."""


def print_tables(measured: list[Measured]) -> None:
    """Print the results for all cells as Markdown."""
    rows = [
        (f"{one.subject.title} | {way}", runs)
        for one in measured
        for way, runs in (("first", one.first), ("again", one.again))
        if runs.ops
    ]
    print("\nms from the end of the cell, medians:\n")
    print("| cell | run | ops | reply | picture | click on | click | picture + click | open all |")
    print("|---|---|---|---|---|---|---|---|---|")
    for title, runs in rows:
        names = ("click", "answer", "open all")
        clicked = "op" if runs.is_op_clicked else "group"
        print(
            f"| {title} | {runs.ops:,} | {runs.median('reply')} "
            f"| {runs.median('picture')} | {clicked} "
            f"| {' | '.join(map(runs.median, names))} |"
        )
    names = (*SPANS, *MOMENTS.values())
    print("\nms in the kernel for three of its parts; then ms from the end of the cell:\n")
    print(f"| cell | run | {' | '.join(names)} |")
    print(f"|---|---|{'---|' * len(names)}")
    for title, runs in rows:
        print(f"| {title} | {' | '.join(map(runs.median, names))} |")
    print(f"\nwidget.js: {static_file('widget.js').stat().st_size:,} bytes\n")
    print("| cell | message, bytes | notebook, bytes | with widget state |")
    print("|---|---|---|---|")
    for one in measured:
        sizes = (one.first.message_bytes, *one.notebook_bytes)
        print(f"| {one.subject.title} | {' | '.join(f'{size:,}' for size in sizes)} |")
    faults = [fault for one in measured for fault in one.faults]
    print(f"\nErrors on the pages: {faults or 'none'}")


def figures_of(measured: Measured) -> Iterator[Figure]:
    """Yield the results for one cell as rows for the page of figures."""
    title = measured.subject.title
    for way, runs in (("first run", measured.first), ("again", measured.again)):
        if times_ms := runs.times_ms["picture"]:
            yield Figure(
                title,
                f"cell end to first picture, {way}",
                value=round(statistics.median(times_ms) / 1e3, 3),
                bar=measured.subject.bar_s,
            )
    whats = ("notebook", "notebook with widget state")
    for what, size in zip(whats, measured.notebook_bytes, strict=True):
        yield Figure(title, what, value=size, unit="bytes", bar=2_000_000)
