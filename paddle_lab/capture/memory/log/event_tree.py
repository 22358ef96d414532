"""Paddle's event trees as columns; each event is a Python object, each attribute a C++ call."""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

import numpy as np

from paddle_lab.capture.memory.log.events import (
    ALLOCATE,
    COLUMNS,
    FREE,
    HOST,
    NOT_READ,
    PLACES,
    RESERVED_ALLOCATE,
    GradNodeRuns,
    Int64s,
)

_GRAD_NODE_PREFIX, _OWN_PART_PREFIX = "Global_", "Local_"
"""Prefixes of the names of a grad node's run, and of its own part within the run."""

# This many events are read at once; then their objects are released.
_AT_ONCE = 4096
# The counter is read at the first 64 host events of each batch, and then at every 16th.
_FIRST, _STRIDE = 64, 16


def read_trees(trees: dict[int, Any], *, has_devices: bool) -> tuple[Int64s, GradNodeRuns]:
    """Return the allocator events and grad nodes of event trees; times are of the wall clock.

    Parameters
    ----------
    trees
        By thread. The caller holds the profiler's result, which owns them.
    has_devices
        Whether this Paddle has memory other than the host's. If not, no event is about reserved
        memory and all events have the same place; the counter shows what was missed between
        segments, so reading it at some events is enough.
    """
    tables = [np.empty((0, len(COLUMNS)), np.int64)]
    runs: list[tuple[str, int, int, int]] = []
    for thread, root in trees.items():
        waiting: list[Any] = []
        pending = [(root, False)]
        while pending:
            node, has_name = pending.pop()
            waiting.extend(node.mem_node)
            if len(waiting) >= _AT_ONCE:
                tables.append(_rows(waiting, thread, has_devices=has_devices))
                waiting = []
            name = node.name if has_name else ""
            if name.startswith(_GRAD_NODE_PREFIX):
                name = sys.intern(name.removeprefix(_GRAD_NODE_PREFIX))
                runs.append((name, node.start_ns, node.end_ns, thread))
            # Inside of a grad node's own part are kernels.
            has_names = not name.startswith(_OWN_PART_PREFIX)
            pending.extend((child, has_names) for child in node.children_node)
        if waiting:
            tables.append(_rows(waiting, thread, has_devices=has_devices))
    names = np.array([name for name, *_ in runs], np.object_)
    times = np.array([cells for _, *cells in runs], np.int64).reshape(-1, 3)
    return np.concatenate(tables), GradNodeRuns(names, *times.T)


def _rows(events: list[Any], thread: int, *, has_devices: bool) -> Int64s:
    """Return Paddle's events of one thread, int64, shape ``[events, columns]``."""
    change = _read(events, "increase_bytes")
    table = np.zeros((len(events), len(COLUMNS)), dtype=np.int64)
    table[:, 0] = _read(events, "timestamp_ns")
    table[:, 1] = np.where(change > 0, ALLOCATE, FREE)
    table[:, 2] = _read(events, "addr")
    table[:, 3] = np.abs(change)
    table[:, 6], table[:, 7] = HOST, thread
    if not has_devices:
        table[:, 4] = NOT_READ
        for some in (slice(_FIRST), slice(_FIRST, None, _STRIDE)):
            table[some, 4] = _read(events[some], "current_allocated")
        return table
    table[:, 4] = _read(events, "current_allocated")
    numbers: dict[str, int] = {}
    names = [event.place for event in events]
    for name in names:
        if name not in numbers:
            numbers[name] = PLACES.number(name)
    table[:, 6] = [numbers[name] for name in names]
    # Pinned memory is reserved in the name of the host (system_allocator.cc of Paddle).
    table[:, 1] = [int(event.type) for event in events]
    counts = (table[:, 6] != HOST) | (table[:, 1] >= RESERVED_ALLOCATE)
    for row in np.flatnonzero(counts).tolist():
        table[row, 5] = events[row].current_reserved
    return table


def _read(events: list[Any], attribute: str) -> Int64s:
    return np.fromiter(map(attrgetter(attribute), events), dtype=np.int64, count=len(events))
