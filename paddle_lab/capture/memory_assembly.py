"""From allocator events to the record's tables of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.allocation_blocks import ALIVE, BEFORE, pair_events
from paddle_lab.capture.allocation_kinds import find_kinds, storage_roots
from paddle_lab.capture.allocation_lifetimes import find_lifetimes
from paddle_lab.capture.allocation_owners import find_owners
from paddle_lab.capture.allocation_tensors import add_blocks_from_before, outputs_of_ops
from paddle_lab.capture.allocator_events import read_segments
from paddle_lab.capture.backward_attribution import BackwardRuns
from paddle_lab.capture.memory_capture import MemoryCapture
from paddle_lab.capture.recorder import Recorder
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table

def add_memory(record: Record, memory: MemoryCapture, recorder: Recorder) -> None:
    """Fill the tables ``allocations``, ``memory_totals`` and ``steps`` of a record."""
    strings = StringPool(record.strings)
    events, runs = read_segments(memory.segments)
    storages = [*memory.met, *memory.living, *memory.living_gradients]
    blocks, block_of_storage = add_blocks_from_before(pair_events(events), storages, events.places)
    call_rows = {row[0]: key for key, row in enumerate(sorted(recorder.backward_calls))}
    spans = [(call_rows.get(call, -1), span) for call, span in memory.backward_spans]
    backward = BackwardRuns(record, runs, spans)
    owners = find_owners(record, blocks, backward, memory)
    lifetimes = find_lifetimes(record, blocks, owners, backward, memory)
    last_row, last_tensor = len(memory.met), len(memory.met) + len(memory.living)
    lifetimes.is_held_by_tensor[block_of_storage[last_row:]] = True
    outlives = ~lifetimes.ends_in_maker & (owners.grad_node < 0)
    tensor = outputs_of_ops(record, blocks, owners.op, outlives)
    roots = storage_roots(record)
    stored = [
        (block, storage.tensor)
        for block, storage in zip(block_of_storage[:last_tensor], storages, strict=False)
    ]
    kind = find_kinds(
        record, blocks, owners, lifetimes, tensor, stored, block_of_storage[last_tensor:]
    )
    for block, row in stored:
        if tensor[block] < 0:
            tensor[block] = roots[row]
    places = np.array([strings[_place_name(place)] for place in events.places], dtype=np.int64)
    record.tables["allocations"] = _table(
        "allocations",
        {
            "address": blocks.address,
            "bytes": blocks.bytes,
            "place": places[blocks.place],
            "start_ns": np.where(blocks.start_ns == BEFORE, -1, blocks.start_ns - memory.start_ns),
            "end_ns": np.where(blocks.end_ns == ALIVE, -1, blocks.end_ns - memory.start_ns),
            "thread": owners.thread,
            "op": owners.op,
            "grad_node": owners.grad_node,
            "scope": owners.scope,
            "stack": owners.stack,
            "phase": owners.phase,
            "tensor": tensor,
            "kind": kind,
        },
    )
    record.tables["memory_totals"] = _table(
        "memory_totals",
        {
            "time_ns": [reading.time_ns - memory.start_ns for reading in memory.readings],
            "place": [strings[reading.place] for reading in memory.readings],
            "allocated_bytes": [reading.allocated_bytes for reading in memory.readings],
            "reserved_bytes": [reading.reserved_bytes for reading in memory.readings],
        },
    )
    record.strings = strings.to_list()


def _table(name: str, columns: dict[str, Any]) -> Table:
    return Table.from_sequences(RECORD_TABLES[name], columns)


def _place_name(place: str) -> str:
    return place.removeprefix("Place(").removesuffix(")")
