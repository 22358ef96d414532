"""Rows of ``allocations`` that stand in for the blocks that a trace does not keep."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks
from paddle_lab.capture.memory.held.held_events import HeldEvents
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool
from paddle_lab.words import say


def sum_rows(blocks: Blocks, held: HeldEvents) -> dict[str, Any]:
    """Return rows that preserve the peaks of the running total although blocks were forgotten.

    Parameters
    ----------
    blocks
        The blocks that are kept.
    held
        Has the peaks.

    Returns
    -------
    dict
        Columns of ``allocations``; times on the clock of ``perf_counter_ns``, places by number.
    """
    rows = []
    for place, start_bytes in held.counted.first.items():
        begun = (blocks.place == place) & (blocks.start_ns != BEFORE)
        ended = (blocks.place == place) & (blocks.end_ns != ALIVE)
        times_ns = np.concatenate((blocks.end_ns[ended], blocks.start_ns[begun]))
        changes = np.concatenate((-blocks.bytes[ended], blocks.bytes[begun]))
        order = np.argsort(times_ns, kind="stable")
        totals = start_bytes + np.cumsum(changes[order])
        sums = held.highs.shortfalls(place, times_ns[order], totals, start_bytes)
        rows.append(np.column_stack((sums, np.full(len(sums), place))))
    start_ns, end_ns, size, place_of = np.concatenate(rows).T
    kind = ALLOCATION_KINDS.index("unknown")
    same = {"address": -1, "thread": 0, "op": -1, "grad_node": -1, "stack": -1, "phase": 0,
            "tensor": -1, "kind": kind}  # fmt: skip
    columns = {name: np.full(len(size), value) for name, value in same.items()}
    return columns | {"start_ns": start_ns, "end_ns": end_ns, "bytes": size, "place": place_of}


def add_sum_scope(record: Record, strings: StringPool) -> int:
    """Add the scope of these rows to a record. Return the scope's row."""
    kind, name = SCOPE_KINDS.index("sum"), strings[say("notices.limit.other_blocks")]
    record.tables["scopes"] = record.scopes.appended(kind=[kind], name=[name], thread=[0])
    return len(record.scopes) - 1
