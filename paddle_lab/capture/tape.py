"""Rows noted while traced code runs, as one flat list.

A tuple a row would be one more object for Python's garbage collector to visit, and it visits after
every few hundred new ones. Rows hold numbers and text only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Tape:
    """Rows of equal width.

    Parameters
    ----------
    width
        Cells a row.
    """

    def __init__(self, width: int) -> None:
        self.cells: list[Any] = []
        self.add = self.cells.extend
        """Append one row, a tuple of ``width`` cells; rows of several threads do not mix."""
        self._width = width

    def __len__(self) -> int:
        return len(self.cells) // self._width

    def rows(self, start: int = 0) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows from row ``start`` on."""
        cells = iter(self.cells[start * self._width :]) if start else iter(self.cells)
        return zip(*[cells] * self._width, strict=True)
