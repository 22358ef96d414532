"""Rows that are written while traced code runs, in one flat list of integers.

A tuple for each row would be another object for Python's garbage collector, which runs after a few
hundred new objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.native import native_twin

Cells = npt.NDArray[np.int64]


@native_twin
class Tape:
    """A list of integers that grows at its end; rows of different threads do not mix.

    Positions are counted from the first cell that was ever added. They do not change when earlier
    cells are dropped.
    """

    def __init__(self) -> None:
        self._cells: list[int] = []
        self.start = 0
        """Position of the first cell that is kept."""
        self.extend = self._cells.extend
        """Append integers."""

    def __len__(self) -> int:
        return self.start + len(self._cells)

    def to_list(self, start: int = 0, end: int | None = None) -> list[int]:
        """Return the cells from position ``start`` to ``end``, without ``end``."""
        first = max(start - self.start, 0)
        return self._cells[first : None if end is None else max(end - self.start, 0)]

    def to_bytes(self, start: int = 0, end: int | None = None) -> bytes:
        """Return the cells from ``start`` to ``end``, without ``end``, 8 bytes each."""
        return array("q", self.to_list(start, end)).tobytes()

    def row_starts(self, width: int, start: int = 0) -> bytes:
        """Return the positions at which rows begin.

        A row has ``width`` cells, and then as many more as its cells 1 and 2 say.

        Parameters
        ----------
        width
            The number of cells that every row has.
        start
            Position of the first row.

        Returns
        -------
        bytes
            Positions, 8 bytes each.
        """
        starts = array("q")
        cells, base = self._cells, self.start
        at = max(start, base)
        while at < base + len(cells):
            starts.append(at)
            at += width + cells[at - base + 1] + cells[at - base + 2]
        return starts.tobytes()

    def replace(self, end: int, cells: bytes) -> None:
        """Replace all cells before ``end`` by other cells, 8 bytes each, but not by more.

        Raises
        ------
        ValueError
            If the position is outside the tape, or if there are too many cells.
        """
        kept = array("q")
        kept.frombytes(cells)
        if not self.start <= end <= len(self) or len(kept) > end - self.start:
            raise ValueError("a tape's cells are replaced by as many at most")
        self._cells[: end - self.start] = kept
        self.start = end - len(kept)


def cells_of(tape: Tape, start: int = 0, end: int | None = None) -> Cells:
    """Return the cells of a tape from ``start`` to ``end``, without ``end``, as an array."""
    return np.frombuffer(tape.to_bytes(start, len(tape) if end is None else end), np.int64)


def row_starts(tape: Tape, width: int, start: int = 0) -> Cells:
    """Return the positions at which rows begin: see :meth:`Tape.row_starts`."""
    return np.frombuffer(tape.row_starts(width, start), np.int64)


def sorted_rows(tape: Tape, width: int) -> Cells:
    """Return the rows of a tape, sorted by key. The rows are ``width`` wide and begin with a key.

    Returns
    -------
    numpy.ndarray
        int64, shape ``[rows, width]``.
    """
    rows = cells_of(tape).reshape(-1, width)
    keys = rows[:, 0]
    # Rows are sorted by key already, unless several threads wrote them.
    return rows if np.all(keys[1:] > keys[:-1]) else rows[np.argsort(keys, kind="stable")]


def rows_of(tape: Tape, width: int, start: int = 0) -> Iterator[tuple[int, ...]]:
    """Iterate over the rows of a tape, which are ``width`` wide, from row ``start`` on."""
    cells = iter(tape.to_list(start * width))
    return zip(*[cells] * width, strict=True)
