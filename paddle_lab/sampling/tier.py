"""A ring of samples at one resolution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.sampling.counter import ABSENT

Values = npt.NDArray[np.int64]


class Tier:
    """The newest ``capacity`` rows: a time and ``width`` values each.

    Room is taken as it is filled, up to the capacity, and again when a counter is added.

    Parameters
    ----------
    capacity
        How many rows it keeps.
    width
        Values in a row.
    """

    def __init__(self, capacity: int, width: int) -> None:
        self._capacity = capacity
        self._rows: Values = np.empty((min(64, capacity), 1 + width), dtype=np.int64)
        self.count = 0
        """Rows appended so far, those that were dropped included."""

    def __len__(self) -> int:
        return min(self.count, self._capacity)

    def append(self, time_ns: int, values: list[int]) -> None:
        """Append a row; the oldest gives way where the ring is full."""
        room = len(self._rows)
        if self.count >= room and room < self._capacity:
            grown = np.empty((min(2 * room, self._capacity), self._rows.shape[1]), dtype=np.int64)
            grown[:room] = self._rows
            self._rows = grown
            room = len(grown)
        row = self._rows[self.count % room]
        row[0] = time_ns
        row[1:] = values
        self.count += 1

    def widen(self, width: int) -> None:
        """Give rows more values: those of older rows are absent."""
        kept = self._rows
        self._rows = np.full((len(kept), 1 + width), ABSENT, dtype=np.int64)
        self._rows[:, : kept.shape[1]] = kept

    def since(self, count: int = 0) -> Values:
        """Return a copy of the rows from number ``count`` on, as far as they are kept.

        Returns
        -------
        rows
            int64 of shape [rows, 1 + width], oldest first; the first column is the time.
        """
        first = max(count, self.count - len(self))
        if first >= self.count:
            return self._rows[:0]
        positions = np.arange(first, self.count) % len(self._rows)
        rows: Values = self._rows[positions]
        return rows
