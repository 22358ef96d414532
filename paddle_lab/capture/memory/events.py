"""Reading what the profiler recorded: allocator events and the grad nodes that ran, as columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle_lab.capture.memory.allocator_log import Segment, SegmentPart
from paddle_lab.capture.memory.clock import to_perf_ns
from paddle_lab.capture.memory.event_columns import (
    ALLOCATE,
    COLUMNS,
    CPU,
    FREE,
    NOT_READ,
    RESERVED_ALLOCATE,
    RESERVED_FREE,
    EventColumns,
    Int64s,
)

__all__ = [
    "ALLOCATE", "CPU", "FREE", "NOT_READ", "RESERVED_ALLOCATE", "RESERVED_FREE", "AllocatorEvents",
    "GradNodeRun", "Int64s", "read_early", "read_segments",
]  # fmt: skip

_PLACE, _SEGMENT = COLUMNS.index("place"), COLUMNS.index("segment")
_GRAD_NODE_PREFIX, _OWN_PART_PREFIX = "Global_", "Local_"


@dataclass
class AllocatorEvents:
    """Every change of allocated and of reserved memory, by time; arrays of shape ``[events]``."""

    time_ns: Int64s
    """On the clock of ``perf_counter_ns``."""
    kind: Int64s
    address: Int64s
    bytes: Int64s
    """Positive, whether allocated or freed."""
    allocated_bytes: Int64s
    """What Paddle's counter said after the event, of all memory in the place; or ``NOT_READ``."""
    reserved_bytes: Int64s
    place: Int64s
    """Position in :attr:`places`."""
    thread: Int64s
    """The operating system's thread id."""
    segment: Int64s
    """Which of the segments tells of it."""
    places: list[str]


@dataclass
class GradNodeRun:
    """A grad node that ran."""

    name: str
    start_ns: int
    end_ns: int
    thread: int


def read_segments(
    segments: list[Segment], *, has_devices: bool = True
) -> tuple[AllocatorEvents, list[GradNodeRun]]:
    """Return the events of all segments, and the grad nodes that ran, both by time.

    Parameters
    ----------
    segments
        What the profiler recorded.
    has_devices
        Whether this Paddle has memory but the host's: without, much need not be read.
    """
    places: dict[str, int] = {}
    tables: list[Int64s] = []
    runs: list[GradNodeRun] = []
    for number, segment in enumerate(segments):
        part = segment.part or _read(segment, has_devices=has_devices)
        table = part.table.copy()
        known = [places.setdefault(place, len(places)) for place in part.places]
        table[:, _PLACE] = np.array(known, np.int64)[table[:, _PLACE]] if known else 0
        table[:, _SEGMENT] = number
        tables.append(table)
        runs.extend(map(GradNodeRun, part.names, *part.runs.tolist()))
    table = np.concatenate([np.empty((0, len(COLUMNS)), dtype=np.int64), *tables])
    table = table[np.argsort(table[:, 0], kind="stable")]
    runs.sort(key=lambda run: run.start_ns)
    by_name = {name: np.ascontiguousarray(table[:, number]) for number, name in enumerate(COLUMNS)}
    return AllocatorEvents(**by_name, places=list(places)), runs


def read_early(segments: Iterable[Segment], *, has_devices: bool) -> None:
    """Read segments now, and let go of the profiler's own objects, which take ten times as much."""
    for segment in segments:
        if segment.part is None:
            segment.part = _read(segment, has_devices=has_devices)
            segment.result = None


def _read(segment: Segment, *, has_devices: bool) -> SegmentPart:
    places: dict[str, int] = {}
    columns = EventColumns(places, has_devices=has_devices)
    nodes = _walk(segment.result, columns, 0)
    table = columns.table()
    table[:, 0] = to_perf_ns(table[:, 0], segment.begin, segment.end)
    runs = np.array([node[1:] for node in nodes], np.int64).reshape(-1, 3).T
    for times in runs[:2]:
        times[:] = to_perf_ns(times, segment.begin, segment.end)
    names = [sys.intern(name) for name, *_ in nodes]
    return SegmentPart(table, list(places), names, runs)


def _walk(result: Any, columns: EventColumns, number: int) -> list[tuple[str, int, int, int]]:
    """Collect a segment's allocator events; return the grad nodes (name, start, end, thread)."""
    nodes: list[tuple[str, int, int, int]] = []
    for thread, root in result.get_data().items():
        pending = [(root, False)]
        while pending:
            node, has_name = pending.pop()
            columns.add(node.mem_node)
            if columns.is_full:
                columns.read(thread, number)
            name = node.name if has_name else ""
            if name.startswith(_GRAD_NODE_PREFIX):
                name = name.removeprefix(_GRAD_NODE_PREFIX)
                nodes.append((name, node.start_ns, node.end_ns, thread))
            # What stands in a grad node's own part are kernels.
            has_names = not name.startswith(_OWN_PART_PREFIX)
            pending.extend((child, has_names) for child in node.children_node)
        columns.read(thread, number)
    return nodes
