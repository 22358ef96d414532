"""Turns the profiler's results into columns, with times of ``perf_counter_ns``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.log.event_order import in_counted_order
from paddle_lab.capture.memory.log.event_tree import read_trees
from paddle_lab.capture.memory.log.events import (
    COLUMNS,
    AllocatorEvents,
    DeviceKernels,
    EventTable,
    GradNodeRuns,
    KernelCalls,
)
from paddle_lab.capture.memory.log.segments import Segment, to_perf_ns


def read_segments(
    segments: Sequence[Segment], *, has_devices: bool = True
) -> tuple[AllocatorEvents, GradNodeRuns]:
    """Return the events of all segments, and the grad nodes that ran, both by time.

    Parameters
    ----------
    segments
        What the profiler recorded.
    has_devices
        Whether this Paddle has memory other than the host's. Without it, less is read.
    """
    parts = [_read(segment, has_devices=has_devices) for segment in segments]
    tables = [part.events for part in parts]
    table = np.concatenate([np.empty((0, len(COLUMNS)), np.int64), *tables])
    table[:, COLUMNS.index("segment")] = np.repeat(np.arange(len(parts)), list(map(len, tables)))
    table = table[np.argsort(table[:, 0], kind="stable")]
    runs = GradNodeRuns.joined(part.runs for part in parts)
    return (
        AllocatorEvents(*np.ascontiguousarray(table.T)),
        runs.chosen(np.argsort(runs.start_ns, kind="stable")),
    )


def read_kernel_segments(
    segments: Sequence[Segment], *, has_devices: bool = True
) -> tuple[KernelCalls, DeviceKernels, GradNodeRuns]:
    """Return the kernels of all segments, and the grad nodes that ran.

    Parameters
    ----------
    segments, has_devices
        As for :func:`read_segments`.
    """
    parts = [_read(segment, has_devices=has_devices) for segment in segments]
    return (
        KernelCalls.joined(part.calls for part in parts),
        DeviceKernels.joined(part.on_device for part in parts),
        GradNodeRuns.joined(part.runs for part in parts),
    )


def _read(segment: Segment, *, has_devices: bool) -> EventTable:
    """Return the events of a segment. The first reader frees the profiler's objects."""
    if segment.part is None:
        found = read_trees(
            segment.result.get_data(), has_devices=has_devices, has_kernels=segment.has_kernels
        )
        table, runs, calls, on_device = found
        times_ns = runs.start_ns, runs.end_ns, calls.start_ns, calls.end_ns, on_device.launch_ns
        for times in (table[:, 0], *times_ns):
            times[:] = to_perf_ns(times, segment.begin, segment.end)
        segment.part = found._replace(events=in_counted_order(table))
        segment.result = None
    return segment.part
