"""Samples of days in bounded room: every one of the last minutes, then coarser with age."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from paddle_lab.sampling.counter import ABSENT

Values = npt.NDArray[np.int64]

SECOND_NS: Final = 1_000_000_000
BIN_NS: Final = (SECOND_NS, 60 * SECOND_NS)
"""Widths of the coarser tiers' bins."""
_BIN_CAPACITY: Final = (2 * 3600, 7 * 24 * 60)
_SAMPLE_CAPACITY: Final = 6000
"""Two minutes at 50 samples a second."""


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


class History:
    """Three tiers: samples, bins of a second, bins of a minute.

    A bin's row holds the least and the largest value of each counter in turn, so a peak is never
    lost to age. A time in which nothing was sampled has no bin.

    Parameters
    ----------
    width
        Number of counters.
    """

    def __init__(self, width: int) -> None:
        self.samples = Tier(_SAMPLE_CAPACITY, width)
        self.bins = tuple(Tier(capacity, 2 * width) for capacity in _BIN_CAPACITY)
        self._open: list[_Bin | None] = [None] * len(BIN_NS)
        self._width = width

    def append(self, time_ns: int, values: list[int]) -> None:
        """Add one sample; ``values`` has one for each counter."""
        if len(values) > self._width:
            self._widen(len(values))
        self.samples.append(time_ns, values)
        for index, width_ns in enumerate(BIN_NS):
            start_ns = time_ns - time_ns % width_ns
            current = self._open[index]
            if current is not None and current.start_ns == start_ns:
                current.add(values)
                continue
            if current is not None:
                self.bins[index].append(current.start_ns, current.row)
            self._open[index] = _Bin(start_ns, values)

    def window(self, start_ns: int, end_ns: int) -> Values:
        """Return the samples in a span, as far as single samples are still kept.

        Returns
        -------
        rows
            int64 of shape [rows, 1 + counters]: time, then one value a counter.
        """
        rows = self.samples.since()
        times = rows[:, 0]
        return rows[times.searchsorted(start_ns) : times.searchsorted(end_ns, side="right")]

    def _widen(self, width: int) -> None:
        self.samples.widen(width)
        for tier in self.bins:
            tier.widen(2 * width)
        for current in self._open:
            if current is not None:
                current.row.extend([ABSENT] * (2 * (width - self._width)))
        self._width = width


class _Bin:
    """The least and largest values since ``start_ns``."""

    __slots__ = ("row", "start_ns")

    def __init__(self, start_ns: int, values: list[int]) -> None:
        self.start_ns = start_ns
        self.row = [value for each in values for value in (each, each)]

    def add(self, values: list[int]) -> None:
        row = self.row
        position = 0
        for value in values:
            if value != ABSENT:
                if value < row[position] or row[position] == ABSENT:
                    row[position] = value
                row[position + 1] = max(row[position + 1], value)
            position += 2
