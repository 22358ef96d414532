"""Reading what the profiler recorded: allocator events and the grad nodes that ran, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.memory.allocator_log import Segment
from paddle_lab.capture.memory.clock import to_perf_ns

Int64s = npt.NDArray[np.int64]

ALLOCATE, FREE, RESERVED_ALLOCATE, RESERVED_FREE = range(4)
"""Values of Paddle's ``TracerMemEventType``."""

_COLUMNS = (
    "time_ns", "kind", "address", "bytes", "allocated_bytes", "reserved_bytes", "place", "thread",
    "segment",
)  # fmt: skip
_GRAD_NODE_PREFIX, _OWN_PART_PREFIX = "Global_", "Local_"
CPU = "Place(cpu)"


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
    """What Paddle's counter said after the event, of all memory in the place."""
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


def read_segments(segments: list[Segment]) -> tuple[AllocatorEvents, list[GradNodeRun]]:
    """Return the events of all segments, and the grad nodes that ran, both by time."""
    places: dict[str, int] = {}
    tables: list[npt.NDArray[Any]] = []
    runs: list[GradNodeRun] = []
    for number, segment in enumerate(segments):
        rows, nodes = _walk(segment.result, places, number)
        table = np.array(rows, dtype=np.int64).reshape(-1, len(_COLUMNS))
        table[:, 0] = to_perf_ns(table[:, 0], segment.begin, segment.end)
        tables.append(table)
        if nodes:
            starts = np.array([start for _, start, _, _ in nodes], dtype=np.int64)
            ends = np.array([end for _, _, end, _ in nodes], dtype=np.int64)
            starts = to_perf_ns(starts, segment.begin, segment.end)
            ends = to_perf_ns(ends, segment.begin, segment.end)
            runs.extend(
                GradNodeRun(name, int(start), int(end), thread)
                for (name, _, _, thread), start, end in zip(nodes, starts, ends, strict=True)
            )
    table = np.concatenate(tables) if tables else np.empty((0, len(_COLUMNS)), dtype=np.int64)
    table = table[np.argsort(table[:, 0], kind="stable")]
    runs.sort(key=lambda run: run.start_ns)
    columns = {name: np.ascontiguousarray(table[:, number]) for number, name in enumerate(_COLUMNS)}
    return AllocatorEvents(**columns, places=list(places)), runs


def _walk(
    result: Any, places: dict[str, int], number: int
) -> tuple[list[tuple[int, ...]], list[tuple[str, int, int, int]]]:
    """Return a segment's allocator events, and the grad nodes (name, start, end, thread)."""
    rows: list[tuple[int, ...]] = []
    nodes: list[tuple[str, int, int, int]] = []
    for thread, root in result.get_data().items():
        pending = [(root, False)]
        while pending:
            node, has_name = pending.pop()
            for event in node.mem_node:
                change, place = event.increase_bytes, event.place
                if place == CPU:
                    # Quicker than to ask for the type: nothing is reserved there.
                    kind, reserved = ALLOCATE if change > 0 else FREE, 0
                else:
                    kind, reserved = int(event.type), event.current_reserved
                rows.append(
                    (
                        event.timestamp_ns, kind, event.addr, abs(change),
                        event.current_allocated, reserved,
                        places.setdefault(place, len(places)), thread, number,
                    )
                )  # fmt: skip
            name = node.name if has_name else ""
            if name.startswith(_GRAD_NODE_PREFIX):
                name = name.removeprefix(_GRAD_NODE_PREFIX)
                nodes.append((name, node.start_ns, node.end_ns, thread))
            # What stands in a grad node's own part are kernels.
            has_names = not name.startswith(_OWN_PART_PREFIX)
            pending.extend((child, has_names) for child in node.children_node)
    return rows, nodes
