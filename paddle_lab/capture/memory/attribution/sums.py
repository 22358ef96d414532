"""Rows of ``allocations`` that stand for all blocks that a trace does not keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.log.events import Int64s
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say

_UNKNOWN = ALLOCATION_KINDS.index("unknown")
_SUM = SCOPE_KINDS.index("sum")


def add_sums(
    record: Record, memory: MemoryCapture, places: dict[int, int], strings: StringPool
) -> None:
    """Let the running total of a record have its highs where blocks were left out.

    Parameters
    ----------
    record
        Has the blocks that are kept.
    memory
        What the trace saw.
    places
        Numbers of places to what they are called in the record.
    strings
        The record's.
    """
    blocks = record.allocations
    found = []
    for number, place in places.items():
        times_ns, totals, start_bytes = _running_total(record, place)
        sums = memory.held.highs.shortfalls(number, times_ns + memory.start_ns, totals, start_bytes)
        found.append(np.column_stack((sums, np.full(len(sums), place))))
    start_ns, end_ns, size, place_of = np.concatenate(found).T
    scopes = record.scopes
    own = {"kind": _SUM, "name": strings[say("notices.limit.other_blocks")], "thread": 0}
    record.tables["scopes"] = Table(
        {
            name: np.append(column, own.get(name, -1)).astype(column.dtype)
            for name, column in scopes.columns.items()
        }
    )
    sums_of: dict[str, Any] = {
        "bytes": size,
        "place": place_of,
        "start_ns": start_ns - memory.start_ns,
        "end_ns": end_ns - memory.start_ns,
        "thread": 0,
        "scope": len(scopes),
        "phase": 0,
        "kind": _UNKNOWN,
    }
    columns = {
        name: np.append(column, np.broadcast_to(sums_of.get(name, -1), size.shape))
        for name, column in blocks.columns.items()
    }
    order = np.argsort(columns["start_ns"], kind="stable")
    record.tables["allocations"] = Table(
        {name: column[order].astype(blocks[name].dtype) for name, column in columns.items()}
    )


def _running_total(record: Record, place: int) -> tuple[Int64s, Int64s, int]:
    """Return when the total of kept blocks changed, what it was then, and before the first."""
    table, counted = record.allocations, record.memory_totals
    here = table["place"] == place
    size = table["bytes"][here].astype(np.int64)
    start, end = table["start_ns"][here], table["end_ns"][here]
    times = np.concatenate((end[end >= 0], start[start >= 0])).astype(np.int64)
    changes = np.concatenate((-size[end >= 0], size[start >= 0]))
    order = np.argsort(times, kind="stable")
    readings = counted["allocated_bytes"][counted["place"] == place]
    start_bytes = int(readings[0]) if len(readings) else int(size[start < 0].sum())
    return times[order], start_bytes + np.cumsum(changes[order]), start_bytes
