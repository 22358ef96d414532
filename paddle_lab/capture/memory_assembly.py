"""From allocator events to the record's tables of memory."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from paddle_lab.capture.allocation_blocks import ALIVE, BEFORE, Blocks, pair_events
from paddle_lab.capture.allocator_events import Int64s, read_segments
from paddle_lab.capture.memory_capture import MemoryCapture
from paddle_lab.capture.op_windows import ops_at
from paddle_lab.capture.recorder import Recorder
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table

(
    TEMPORARY, ACTIVATION, SAVED_ACTIVATION, PARAMETER, GRADIENT, OPTIMIZER_STATE, BUFFER, INPUT,
    UNKNOWN,
) = range(len(ALLOCATION_KINDS))  # fmt: skip


def add_memory(record: Record, memory: MemoryCapture, recorder: Recorder) -> None:
    """Fill the tables ``allocations``, ``memory_totals`` and ``steps`` of a record."""
    tables, strings = record.tables, StringPool(record.strings)
    events, _ = read_segments(memory.segments)
    blocks = pair_events(events)
    ops = tables["ops"]
    threads = _thread_numbers(blocks, memory)
    start_ns = np.where(blocks.start_ns == BEFORE, BEFORE, blocks.start_ns - recorder.start_ns)
    end_ns = np.where(blocks.end_ns == ALIVE, ALIVE, blocks.end_ns - recorder.start_ns)
    op_end_ns = ops["start_ns"] + ops["duration_ns"]
    op = ops_at(start_ns, threads, ops["start_ns"], op_end_ns, ops["thread"])
    op = np.where(start_ns == BEFORE, -1, op)
    places = np.array([strings[_place_name(place)] for place in events.places], dtype=np.int64)
    nothing = np.full(len(blocks), -1, dtype=np.int64)
    ends_in_op = (op >= 0) & (end_ns != ALIVE) & (end_ns <= op_end_ns[op]) if len(ops) else op >= 0
    tables["allocations"] = _table(
        "allocations",
        {
            "address": blocks.address,
            "bytes": blocks.bytes,
            "place": places[blocks.place] if len(blocks) else blocks.place,
            "start_ns": start_ns,
            "end_ns": end_ns,
            "thread": threads,
            "op": op,
            "grad_node": nothing,
            "scope": _taken(ops["scope"], op),
            "stack": _taken(ops["stack"], op),
            "phase": np.where(op >= 0, _taken(ops["phase"], op), 0),
            "tensor": nothing,
            "kind": np.where(ends_in_op, TEMPORARY, np.where(op >= 0, ACTIVATION, UNKNOWN)),
        },
    )
    tables["memory_totals"] = _table(
        "memory_totals",
        {
            "time_ns": [reading.time_ns - recorder.start_ns for reading in memory.readings],
            "place": [strings[reading.place] for reading in memory.readings],
            "allocated_bytes": [reading.allocated_bytes for reading in memory.readings],
            "reserved_bytes": [reading.reserved_bytes for reading in memory.readings],
        },
    )
    record.strings = strings.to_list()


def _table(name: str, columns: dict[str, Any]) -> Table:
    return Table.from_sequences(RECORD_TABLES[name], columns)


def _taken(column: Any, rows: Int64s) -> Int64s:
    """Return the column's values at ``rows``, -1 where there is no row."""
    if not len(column):
        return np.full(len(rows), -1, dtype=np.int64)
    return np.where(rows >= 0, column[rows].astype(np.int64), -1)


def _thread_numbers(blocks: Blocks, memory: MemoryCapture) -> Int64s:
    """Return the trace's number of each block's thread; threads without Python get further ones."""
    numbers = dict(memory.thread_numbers)
    further = count(max(numbers.values(), default=-1) + 1).__next__
    native, inverse = np.unique(blocks.thread, return_inverse=True)
    found = [numbers[thread] if thread in numbers else further() for thread in native.tolist()]
    return np.array(found, dtype=np.int64)[inverse]


def _place_name(place: str) -> str:
    return place.removeprefix("Place(").removesuffix(")")
