"""Samples of days in bounded room: every one of the last minutes, then coarser with age."""

from __future__ import annotations

from typing import Final

from paddle_lab.sampling.counter import ABSENT
from paddle_lab.sampling.tier import Tier, Values

SECOND_NS: Final = 1_000_000_000
BIN_NS: Final = (SECOND_NS, 60 * SECOND_NS)
"""Widths of the coarser tiers' bins."""
_BIN_CAPACITY: Final = (2 * 3600, 7 * 24 * 60)
_SAMPLE_CAPACITY: Final = 6000
"""Two minutes at 50 samples a second."""


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
