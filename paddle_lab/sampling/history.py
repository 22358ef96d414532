"""Samples of days in bounded memory: single samples of the last minutes, bins of older ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from paddle_lab.sampling.counter import ABSENT, Counter

Values = npt.NDArray[np.int64]
Item = TypeVar("Item")

SECOND_NS: Final = 1_000_000_000
BIN_NS: Final = (SECOND_NS, 60 * SECOND_NS)
"""Widths of the coarser tiers' bins."""
_BIN_CAPACITY: Final = (2 * 3600, 7 * 24 * 60)
_SAMPLE_CAPACITY: Final = 6000
"""Two minutes at 50 samples a second."""


class Ring(Generic[Item]):
    """The newest ``capacity`` items."""

    def __init__(self, capacity: int) -> None:
        self._items: deque[Item] = deque(maxlen=capacity)
        self.count = 0
        """Items appended so far, including dropped ones."""

    def append(self, item: Item) -> None:
        """Append an item. It replaces the oldest item if the ring is full."""
        self._items.append(item)
        self.count += 1

    def since(self, count: int = 0) -> list[Item]:
        """Return the stored items from number ``count`` on, the oldest first."""
        new = min(self.count - count, len(self._items))
        return [self._items[place] for place in range(-new, 0)]


class History:
    """Three tiers of rows: single samples, bins of a second, and bins of a minute.

    A row has a time and the values of the counters. In a bin each counter has its minimum and its
    maximum, so no peak is lost. There are no bins for times without samples.
    """

    def __init__(self) -> None:
        self.samples: Ring[list[int]] = Ring(_SAMPLE_CAPACITY)
        self.bins: tuple[Ring[list[int]], ...] = tuple(map(Ring, _BIN_CAPACITY))
        self._open: list[list[int]] = [[] for _ in BIN_NS]

    def append(self, time_ns: int, values: Sequence[int]) -> None:
        """Add a sample. ``values`` has a value for each counter known by now."""
        self.samples.append([time_ns, *values])
        for index, width_ns in enumerate(BIN_NS):
            start_ns = time_ns - time_ns % width_ns
            row = self._open[index]
            if row and row[0] != start_ns:
                self.bins[index].append(row)
            if not row or row[0] != start_ns:
                row = self._open[index] = [start_ns]
            row += [ABSENT] * (1 + 2 * len(values) - len(row))
            for position, value in zip(range(1, len(row), 2), values, strict=True):
                if value == ABSENT:
                    continue
                if value < row[position] or row[position] == ABSENT:
                    row[position] = value
                row[position + 1] = max(row[position + 1], value)

    def window(self, start_ns: int, end_ns: int, width: int) -> Values:
        """Return the single samples in a span of time, with ``width`` values each."""
        return table([row for row in self.samples.since() if start_ns <= row[0] <= end_ns], width)


def table(rows: Sequence[Sequence[int]], width: int) -> Values:
    """Return rows as int64 of shape [rows, 1 + width]: a time, then values.

    Rows that are older than a counter have :data:`ABSENT` as its value.
    """
    values = np.full((len(rows), 1 + width), ABSENT, np.int64)
    for at, row in enumerate(rows):
        values[at, : len(row)] = row
    return values


class Mark(NamedTuple):
    """A span of time on the sampler's clock in which a cell or a layer ran."""

    start_ns: int
    end_ns: int
    """-1 while the cell runs."""
    label: str


class Marks(Ring[Mark]):
    """The last spans of one kind, such as cells. Equal consecutive spans are joined."""

    def __init__(self) -> None:
        super().__init__(_SAMPLE_CAPACITY)  # each sample may be in a different layer
        self.running: Mark | None = None
        """The span that has not ended."""

    def run(self, label: str, time_ns: int) -> None:
        """Set the cell or layer that is running now; empty if none is running."""
        if self.running is not None:
            if self.running.label == label:
                return
            self.append(self.running._replace(end_ns=time_ns))
        self.running = Mark(time_ns, -1, label) if label else None


_NS_IN_MS: Final = 1e6


class Cursor(NamedTuple):
    """How many rows and marks were already read."""

    tiers: tuple[int, ...] = (0, 0, 0)
    cells: int = 0
    layers: int = 0
    version: int = -1
    """The version of the counters."""


@dataclass(frozen=True)
class Batch:
    """The samples and marks since a cursor.

    Parameters
    ----------
    counters
        All counters if they have changed since the cursor, else ``None``.
    tiers
        Rows of the history's tiers (samples, seconds, minutes).
    cells, layers
        The spans that have ended.
    running_cell, running_layer
        The cell and the layer call that are running now.
    zero_ns
        The time to which the times in the message are relative.
    """

    counters: Sequence[Counter] | None
    tiers: tuple[Values, ...]
    cells: list[Mark]
    layers: list[Mark]
    running_cell: Mark | None
    running_layer: Mark | None
    zero_ns: int

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the batch as JSON and buffers. ``js/src/live/counters/messages.ts`` reads them.

        Times are in ms since the sampler was created. Each buffer has the rows of a tier as
        float64, little endian: the time, then the values (in bins the minimum and the maximum of
        each counter).
        """
        message: dict[str, Any] = {
            "rows": [len(rows) for rows in self.tiers],
            "cells": self._spans(self.cells, self.running_cell),
            "layers": self._spans(self.layers, self.running_layer),
        }
        if self.counters is not None:
            message["counters"] = [asdict(counter) for counter in self.counters]
        return message, [self._floats(rows) for rows in self.tiers]

    def _spans(self, ended: list[Mark], running: Mark | None) -> list[list[Any]]:
        spans = [*ended, running] if running is not None else ended
        return [
            [self._ms(start_ns), self._ms(end_ns) if end_ns >= 0 else None, label]
            for start_ns, end_ns, label in spans
        ]

    def _ms(self, time_ns: int) -> float:
        return round((time_ns - self.zero_ns) / _NS_IN_MS, 3)

    def _floats(self, rows: Values) -> bytes:
        floats = rows.astype("<f8")
        floats[:, 0] = (rows[:, 0] - self.zero_ns) / _NS_IN_MS
        return floats.tobytes()
