"""Rows noted while traced code runs, as one flat list of integers.

A tuple a row would be one more object for Python's garbage collector to visit, and it visits after
every few hundred new ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.capture.native import native_twin


@native_twin
class Tape:
    """A list of integers that only grows; rows of several threads do not mix."""

    def __init__(self) -> None:
        self._cells: list[int] = []
        self.extend = self._cells.extend
        """Append integers."""

    def __len__(self) -> int:
        return len(self._cells)

    def to_list(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the cells from one position to, and without, another."""
        return self._cells[start:end]


def rows_of(tape: Tape, width: int, start: int = 0) -> Iterator[tuple[int, ...]]:
    """Iterate over the rows of a tape whose rows are ``width`` wide, from row ``start`` on."""
    cells = iter(tape.to_list(start * width))
    return zip(*[cells] * width, strict=True)
