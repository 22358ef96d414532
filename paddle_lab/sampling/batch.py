"""The samples and marks that are new since the last batch, and their message to the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from paddle_lab.sampling.counter import Counter
from paddle_lab.sampling.history import Mark, Values

_NS_IN_MS: Final = 1e6


class Cursor(NamedTuple):
    """How many rows and marks a reader has seen."""

    tiers: tuple[int, ...] = (0, 0, 0)
    cells: int = 0
    layers: int = 0
    version: int = -1
    """The version of the counters."""


@dataclass(frozen=True)
class Batch:
    """Samples and marks since a cursor.

    Parameters
    ----------
    counters
        All counters if they have changed, else ``None``.
    tiers
        Rows of the history's tiers (samples, seconds, minutes).
    cells, layers
        Spans that ended.
    running_cell, running_layer
    The cell and the layer call that are running now.
    zero_ns
        Times in the message are relative to this one.
    """

    counters: Sequence[Counter] | None
    tiers: tuple[Values, ...]
    cells: list[Mark]
    layers: list[Mark]
    running_cell: Mark | None
    running_layer: Mark | None
    zero_ns: int

    def message(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return the batch as JSON and buffers; mirrored in ``js/src/live/counters/messages.ts``.

        Times are in ms since the sampler was made. Each buffer is a tier's rows, float64 in the
        byte order of all browsers: time, then the values (of bins: least and largest in turn).
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
