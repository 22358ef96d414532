"""From the profiler's results to columns, on the clock of ``perf_counter_ns``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from paddle_lab.capture.memory.log.clock import to_perf_ns
from paddle_lab.capture.memory.log.event_order import in_counted_order
from paddle_lab.capture.memory.log.event_tree import read_trees
from paddle_lab.capture.memory.log.events import COLUMNS, AllocatorEvents, EventTable, GradNodeRuns
from paddle_lab.capture.memory.log.segments import Segment


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
    parts = [segment.part or _read(segment, has_devices=has_devices) for segment in segments]
    tables = [part.events for part in parts]
    table = np.concatenate([np.empty((0, len(COLUMNS)), np.int64), *tables])
    table[:, COLUMNS.index("segment")] = np.repeat(np.arange(len(parts)), list(map(len, tables)))
    table = table[np.argsort(table[:, 0], kind="stable")]
    runs = GradNodeRuns.joined(part.runs for part in parts)
    return (
        AllocatorEvents(*np.ascontiguousarray(table.T)),
        runs.chosen(np.argsort(runs.start_ns, kind="stable")),
    )


def read_early(segments: Iterable[Segment], *, has_devices: bool) -> None:
    """Read segments now, and let go of the profiler's own objects, which take ten times as much."""
    for segment in segments:
        if segment.part is None:
            segment.part = _read(segment, has_devices=has_devices)
            segment.result = None


def _read(segment: Segment, *, has_devices: bool) -> EventTable:
    table, runs = read_trees(segment.result.get_data(), has_devices=has_devices)
    for times in (table[:, 0], runs.start_ns, runs.end_ns):
        times[:] = to_perf_ns(times, segment.begin, segment.end)
    return EventTable(in_counted_order(table), runs)
