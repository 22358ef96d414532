"""Paddle's event objects as columns: each is a Python object, each attribute a call of C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

ALLOCATE, FREE, RESERVED_ALLOCATE, RESERVED_FREE = range(4)
"""Values of Paddle's ``TracerMemEventType``."""

COLUMNS = (
    "time_ns", "kind", "address", "bytes", "allocated_bytes", "reserved_bytes", "place", "thread",
    "segment",
)  # fmt: skip


class EventTable(NamedTuple):
    """What event trees tell; times are of the wall clock."""

    events: Int64s
    """Allocator events, shape ``[events, columns]``."""
    places: list[str]
    """Names of places, by the number that stands for them."""
    names: list[str]
    """Of the grad nodes that ran."""
    runs: Int64s
    """Their starts, ends and threads, shape ``[3, runs]``."""


GRAD_NODE_PREFIX, OWN_PART_PREFIX = "Global_", "Local_"
"""How names of a grad node's run, and of its own part in that, begin."""
CPU = "Place(cpu)"
PINNED = "Place(gpu_pinned)"
"""The host's memory that a device reads by itself; Paddle counts it as the host's."""
NOT_READ = -1
"""A counter that was not asked for."""

# So many events are read at once: their objects are then let go.
_AT_ONCE = 4096
# Of the host's events, where the counter is asked for: at the first, and at some of the rest.
_FIRST, _STRIDE = 64, 16


class EventColumns:
    """Collects allocator events.

    Parameters
    ----------
    places
        Names of places by their number; new ones are added.
    has_devices
        Whether there is memory but the host's. Where there is none, no event tells of reserving and
        all are of one place; and of the counter, which tells what was missed between segments,
        a part is enough.
    """

    def __init__(self, places: dict[str, int], *, has_devices: bool) -> None:
        self._places = places
        self._has_devices = has_devices
        self._parts: list[Int64s] = []
        self._waiting: list[Any] = []

    def add(self, events: Sequence[Any]) -> None:
        """Take Paddle's events of one thread."""
        self._waiting.extend(events)

    @property
    def is_full(self) -> bool:
        """Whether so many wait that they should be read."""
        return len(self._waiting) >= _AT_ONCE

    def read(self, thread: int) -> None:
        """Read what waits; all of it is of one thread."""
        events, self._waiting = self._waiting, []
        if not events:
            return
        change = _read(events, _CHANGE)
        table = np.empty((len(events), len(COLUMNS)), dtype=np.int64)
        table[:, 0] = _read(events, _TIME)
        table[:, 1] = np.where(change > 0, ALLOCATE, FREE)
        table[:, 2] = _read(events, _ADDRESS)
        table[:, 3] = np.abs(change)
        table[:, 4] = NOT_READ
        table[:, 5] = 0
        table[:, 6] = 0
        table[:, 7], table[:, 8] = thread, 0
        if self._has_devices:
            self._read_devices(events, table)
        else:
            self._places.setdefault(CPU, 0)
            table[:_FIRST, 4] = _read(events[:_FIRST], _ALLOCATED)
            table[_FIRST::_STRIDE, 4] = _read(events[_FIRST::_STRIDE], _ALLOCATED)
        self._parts.append(table)

    def table(self) -> Int64s:
        """Return all events, int64, shape ``[events, columns]``."""
        nothing = np.empty((0, len(COLUMNS)), dtype=np.int64)
        return np.concatenate([nothing, *self._parts])

    def _read_devices(self, events: list[Any], table: Int64s) -> None:
        places = self._places
        table[:, 4] = _read(events, _ALLOCATED)
        names = [event.place for event in events]
        table[:, 6] = [places.setdefault(name, len(places)) for name in names]
        # Pinned memory is reserved in the name of the host (system_allocator.cc of Paddle).
        table[:, 1] = [int(event.type) for event in events]
        is_reserve = table[:, 1] >= RESERVED_ALLOCATE
        for row in [row for row, name in enumerate(names) if name != CPU or is_reserve[row]]:
            table[row, 5] = events[row].current_reserved


_CHANGE = attrgetter("increase_bytes")
_TIME = attrgetter("timestamp_ns")
_ADDRESS = attrgetter("addr")
_ALLOCATED = attrgetter("current_allocated")


def _read(events: Sequence[Any], attribute: Callable[[Any], Any]) -> Int64s:
    return np.fromiter(map(attribute, events), dtype=np.int64, count=len(events))
