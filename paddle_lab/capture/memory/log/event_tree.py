"""Reads Paddle's event trees as columns. Events are Python objects that call C++ for attributes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.events import (
    ALLOCATE,
    COLUMNS,
    FREE,
    HOST,
    NOT_READ,
    PLACES,
    RESERVED_ALLOCATE,
    DeviceKernels,
    EventTable,
    GradNodeRuns,
    Int64s,
    KernelCalls,
)

_GRAD_NODE_PREFIX, _OWN_PART_PREFIX = "Global_", "Local_"
"""Prefixes of the name of a grad node's run, and of the name of the node's own part of the run."""

_CALL_SUFFIX = "launch"

# Events are read in batches of this size; then their objects are released.
_AT_ONCE = 4096
# Without devices, Paddle's counter of allocated bytes is read at the first 64 events of each batch,
# and then at every 16th.
_FIRST, _STRIDE = 64, 16


def read_trees(
    trees: dict[int, Any], *, has_devices: bool, has_kernels: bool = False
) -> EventTable:
    """Return the events of event trees; times are wall clock times.

    Around each call of a kernel Paddle records a host event whose name ends with "kernel launch".
    With a GPU, CUPTI also records calls of the CUDA runtime. Paddle adds each of them to the
    innermost host event around it, and adds the kernels and copies on the device to the call that
    launched them, by their correlation ids (``event_node.cc`` and ``event_python.cc`` of Paddle).

    Parameters
    ----------
    trees
        The trees by thread. The caller holds the profiler's result, which owns them.
    has_devices
        Whether this Paddle has memory other than the host's. If not, no event is about reserved
        memory and all events have the same place. The counter then only shows what was missed
        between segments, so it is read at some events only.
    has_kernels
        Whether kernels are read as well.
    """
    types = DOOR.event_types if has_kernels else None
    call_types = {types.DygraphKernelLaunch, types.StaticKernelLaunch} if types else set()
    tables = [np.empty((0, len(COLUMNS)), np.int64)]
    runs: list[tuple[str, int, int, int]] = []
    calls: list[tuple[int, int, int]] = []
    on_device: list[tuple[int, int, int, int, int, bool]] = []
    for thread, root in trees.items():
        waiting: list[Any] = []
        pending = [(root, False, False)]
        while pending:
            node, has_name, is_kernel = pending.pop()
            waiting.extend(node.mem_node)
            if len(waiting) >= _AT_ONCE:
                tables.append(_rows(waiting, thread, has_devices=has_devices))
                waiting = []
            name = node.name if has_name else ""
            if name.startswith(_GRAD_NODE_PREFIX):
                name = sys.intern(name.removeprefix(_GRAD_NODE_PREFIX))
                runs.append((name, node.start_ns, node.end_ns, thread))
            if types:
                on_device += _activities(node, thread, types.Kernel)
                # A kernel that another kernel calls is part of the calling kernel.
                if not is_kernel and node.name.endswith(_CALL_SUFFIX) and node.type in call_types:
                    calls.append((node.start_ns, node.end_ns, thread))
                    is_kernel = True
            # The part of a grad node with this prefix contains kernels, but no grad nodes.
            has_names = not name.startswith(_OWN_PART_PREFIX)
            pending.extend((child, has_names, is_kernel) for child in node.children_node)
        if waiting:
            tables.append(_rows(waiting, thread, has_devices=has_devices))
    names = np.array([name for name, *_ in runs], np.object_)
    times = np.array([cells for _, *cells in runs], np.int64).reshape(-1, 3)
    return EventTable(
        np.concatenate(tables),
        GradNodeRuns(names, *times.T),
        KernelCalls(*np.array(calls, np.int64).reshape(-1, 3).T),
        _kernels(*np.array(on_device, np.int64).reshape(-1, 6).T),
    )


def _activities(
    node: Any, thread: int, kernel: Any
) -> Iterator[tuple[int, int, int, int, int, bool]]:
    """Yield the device activities of a host event."""
    for launch in node.runtime_node:
        launch_ns = launch.start_ns
        for one in launch.device_node:
            times = one.start_ns, one.end_ns
            yield launch_ns, thread, one.device_id, *times, one.type == kernel


def _kernels(
    launch_ns: Int64s,
    thread: Int64s,
    device: Int64s,
    start_ns: Int64s,
    end_ns: Int64s,
    is_kernel: Int64s,
) -> DeviceKernels:
    """Return the kernels among the device activities, and the gap before each."""
    gap_ns = np.zeros_like(start_ns)
    for number in np.unique(device):
        rows = np.flatnonzero(device == number)
        rows = rows[np.argsort(start_ns[rows], kind="stable")]
        busy_until_ns = np.maximum.accumulate(end_ns[rows])
        gap_ns[rows[1:]] = np.maximum(start_ns[rows[1:]] - busy_until_ns[:-1], 0)
    kept = is_kernel > 0
    return DeviceKernels(launch_ns, thread, end_ns - start_ns, gap_ns).chosen(kept)


def _rows(events: list[Any], thread: int, *, has_devices: bool) -> Int64s:
    """Return one thread's events as int64, shape ``[events, columns]``."""
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
    # Paddle reserves pinned memory under the host's name (system_allocator.cc of Paddle).
    table[:, 1] = [int(event.type) for event in events]
    counts = (table[:, 6] != HOST) | (table[:, 1] >= RESERVED_ALLOCATE)
    for row in np.flatnonzero(counts).tolist():
        table[row, 5] = events[row].current_reserved
    return table


def _read(events: list[Any], attribute: str) -> Int64s:
    return np.fromiter(map(attrgetter(attribute), events), dtype=np.int64, count=len(events))
