"""Reading what the profiler recorded: allocator events and the grad nodes that ran, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.log.allocator_log import Segment, SegmentPart
from paddle_lab.capture.memory.log.clock import to_perf_ns
from paddle_lab.capture.memory.log.event_columns import (
    ALLOCATE,
    COLUMNS,
    CPU,
    FREE,
    NOT_READ,
    PINNED,
    RESERVED_ALLOCATE,
    RESERVED_FREE,
    Int64s,
)
from paddle_lab.capture.memory.log.event_order import in_counted_order
from paddle_lab.capture.memory.log.event_tree import read_trees

__all__ = [
    "ALLOCATE", "CPU", "FREE", "NOT_READ", "RESERVED_ALLOCATE", "RESERVED_FREE", "AllocatorEvents",
    "GradNodeRuns", "Int64s", "read_early", "read_segments",
]  # fmt: skip

_PLACE, _SEGMENT = COLUMNS.index("place"), COLUMNS.index("segment")


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
class GradNodeRuns:
    """The grad nodes that ran, by start; arrays of shape ``[runs]``."""

    names: list[str]
    start_ns: Int64s
    """On the clock of ``perf_counter_ns``."""
    end_ns: Int64s
    thread: Int64s
    """The operating system's thread id."""

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def joined(cls, parts: Sequence[tuple[list[str], Int64s]]) -> GradNodeRuns:
        """Return runs in one, by start: names, and starts, ends and threads ``[3, runs]``."""
        names = [name for part, _ in parts for name in part]
        columns = np.concatenate([np.empty((3, 0), np.int64), *(part for _, part in parts)], axis=1)
        return cls(names, *columns).chosen(np.argsort(columns[0], kind="stable"))

    def chosen(self, rows: Int64s) -> GradNodeRuns:
        """Return those at some positions."""
        names = list(map(self.names.__getitem__, rows.tolist()))
        return GradNodeRuns(names, self.start_ns[rows], self.end_ns[rows], self.thread[rows])

    @classmethod
    def in_turn(cls, parts: Sequence[GradNodeRuns]) -> GradNodeRuns:
        """Return some and then others."""
        names = [name for part in parts for name in part.names]
        columns = [(part.start_ns, part.end_ns, part.thread) for part in parts]
        joined = np.concatenate([np.empty((3, 0), np.int64), *map(np.stack, columns)], axis=1)
        return cls(names, *joined)


def read_segments(
    segments: list[Segment], *, has_devices: bool = True
) -> tuple[AllocatorEvents, GradNodeRuns]:
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
    runs: list[tuple[list[str], Int64s]] = []
    for number, segment in enumerate(segments):
        part = segment.part or _read(segment, has_devices=has_devices)
        table = part.table.copy()
        known = [places.setdefault(place, len(places)) for place in part.places]
        table[:, _PLACE] = np.array(known, np.int64)[table[:, _PLACE]] if known else 0
        table[:, _SEGMENT] = number
        tables.append(table)
        runs.append((part.names, part.runs))
    table = np.concatenate([np.empty((0, len(COLUMNS)), dtype=np.int64), *tables])
    table = table[np.argsort(table[:, 0], kind="stable")]
    by_name = {name: np.ascontiguousarray(table[:, number]) for number, name in enumerate(COLUMNS)}
    return AllocatorEvents(**by_name, places=list(places)), GradNodeRuns.joined(runs)


def read_early(segments: Iterable[Segment], *, has_devices: bool) -> None:
    """Read segments now, and let go of the profiler's own objects, which take ten times as much."""
    for segment in segments:
        if segment.part is None:
            segment.part = _read(segment, has_devices=has_devices)
            segment.result = None


def _read(segment: Segment, *, has_devices: bool) -> SegmentPart:
    table, places, names, runs = read_trees(segment.result.get_data(), has_devices=has_devices)
    for times in (table[:, 0], *runs[:2]):
        times[:] = to_perf_ns(times, segment.begin, segment.end)
    if PINNED in places:
        # Paddle counts both in one.
        host = places.index(CPU) if CPU in places else len(places)
        table[table[:, _PLACE] == places.index(PINNED), _PLACE] = host
        places = [*places, CPU][: max(len(places), host + 1)]
    return SegmentPart(in_counted_order(table), places, names, runs)
