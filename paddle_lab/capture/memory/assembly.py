"""From allocator events to the record's tables of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.memory.attribution.backward_attribution import BackwardRuns
from paddle_lab.capture.memory.attribution.block_tensors import (
    add_blocks_from_before,
    outputs_of_ops,
)
from paddle_lab.capture.memory.attribution.foreign_storages import paddles_own
from paddle_lab.capture.memory.attribution.kinds import find_kinds, storage_roots
from paddle_lab.capture.memory.attribution.lifetimes import find_lifetimes
from paddle_lab.capture.memory.attribution.owners import find_owners
from paddle_lab.capture.memory.attribution.sums import add_sums
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, pair_events
from paddle_lab.capture.memory.held.gaps import end_missed_blocks
from paddle_lab.capture.memory.log.events import (
    RESERVED_ALLOCATE,
    RESERVED_FREE,
    AllocatorEvents,
)
from paddle_lab.capture.recorder.recorder import Recorder
from paddle_lab.capture.tables.training_steps import optimizer_steps
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say


def add_memory(record: Record, memory: MemoryCapture, recorder: Recorder) -> None:
    """Fill the tables ``allocations``, ``memory_totals`` and ``steps`` of a record.

    Parameters
    ----------
    record
        Has all else.
    memory, recorder
        What the trace saw.
    """
    strings = StringPool(record.strings)
    memory.hold(memory.segments)
    left_out = memory.keep_within_limit()
    events = memory.history or memory.held.events()
    for found in (memory.met, memory.living, memory.living_gradients):
        found[:] = paddles_own(found, events)
    storages = [*memory.met, *memory.living, *memory.living_gradients]
    blocks, block_of_storage = add_blocks_from_before(pair_events(events), storages, events.places)
    last_row, last_tensor = len(memory.met), len(memory.met) + len(memory.living)
    held = block_of_storage[last_row:]
    unknown_bytes = end_missed_blocks(blocks, memory.held.counted.gaps, set(held.tolist()))
    if unknown_bytes:
        record.origin.notices.append(say("notices.memory.missed", size=unknown_bytes))
    call_rows = {row[0]: key for key, row in enumerate(sorted(recorder.backward_calls))}
    spans = [(call_rows.get(call, -1), span) for call, span in memory.backward_spans]
    backward = BackwardRuns(record, memory.held.runs, spans, memory.start_ns)
    owners = find_owners(record, blocks, backward, memory)
    lifetimes = find_lifetimes(record, blocks, owners, backward, memory)
    lifetimes.is_held_by_tensor[held] = True
    outlives = ~lifetimes.ends_in_maker & ((owners.grad_node < 0) | owners.is_inner)
    tensor = outputs_of_ops(record, blocks, owners.op, outlives)
    roots = storage_roots(record)
    stored_block = block_of_storage[:last_tensor]
    stored_row = np.array([storage.tensor for storage in storages[:last_tensor]], np.int64)
    kind = find_kinds(
        record,
        blocks,
        owners,
        lifetimes,
        tensor,
        (stored_block, stored_row),
        block_of_storage[last_tensor:],
        memory.buffers,
        np.sort(np.array([time_ns for time_ns, _ in memory.optimizer_steps], np.int64))
        + memory.start_ns,
    )
    # Of several tensors in a block it is the one that was met first.
    stored_block, first = np.unique(stored_block, return_index=True)
    is_open = tensor[stored_block] < 0
    tensor[stored_block[is_open]] = roots[stored_row[first[is_open]]]
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
            "op": np.where(owners.op < 0, owners.copied_op, owners.op),
            "grad_node": owners.grad_node,
            "scope": owners.scope,
            "stack": owners.stack,
            "phase": owners.phase,
            "tensor": tensor,
            "kind": kind,
        },
    )
    _add_totals(record, memory, events, strings)
    steps = memory.steps or (
        memory.optimizer_steps if record.origin.kept else optimizer_steps(record)
    )
    if left_out:
        # What is compared from step to step is known where all blocks are.
        times_ns = np.array([time_ns for time_ns, _ in steps], np.int64) + memory.start_ns
        is_sum = memory.held.highs.is_covered(times_ns).tolist()
        steps = [step for step, is_unknown in zip(steps, is_sum, strict=True) if not is_unknown]
    record.tables["steps"] = _table(
        "steps", {"time_ns": [time for time, _ in steps], "scope": [scope for _, scope in steps]}
    )
    if left_out:
        record.origin.notices.append(left_out)
        add_sums(record, memory, dict(enumerate(places.tolist())), strings)
    record.strings = strings.to_list()


def _add_totals(
    record: Record, memory: MemoryCapture, events: AllocatorEvents, strings: StringPool
) -> None:
    counted = memory.held.counted
    places = {_place_name(place): number for number, place in enumerate(events.places)}
    times = [reading.time_ns for reading in memory.readings]
    first_ns, last_ns = (min(times), max(times)) if times else (-1, -1)
    rows = []
    for reading in memory.readings:
        allocated_bytes, number = reading.allocated_bytes, places.get(reading.place, -1)
        # The log begins before the first reading and ends after the last: what other threads do
        # in between is among the events.
        if reading.time_ns == first_ns:
            allocated_bytes = counted.first.get(number, allocated_bytes)
        elif reading.time_ns == last_ns and not memory.notices:
            allocated_bytes = counted.last.get(number, allocated_bytes)
        rows.append(
            (reading.time_ns, strings[reading.place], allocated_bytes, reading.reserved_bytes)
        )
    # Devices alone are reserved memory for: on the host each block is the system's own.
    changes = np.flatnonzero((events.kind == RESERVED_ALLOCATE) | (events.kind == RESERVED_FREE))
    rows.extend(
        (
            int(events.time_ns[event]),
            strings[_place_name(events.places[events.place[event]])],
            int(events.allocated_bytes[event]),
            int(events.reserved_bytes[event]),
        )
        for event in changes.tolist()
    )
    rows.sort()
    record.tables["memory_totals"] = _table(
        "memory_totals",
        {
            "time_ns": [row[0] - memory.start_ns for row in rows],
            "place": [row[1] for row in rows],
            "allocated_bytes": [row[2] for row in rows],
            "reserved_bytes": [row[3] for row in rows],
        },
    )


def _table(name: str, columns: dict[str, Any]) -> Table:
    return Table.from_sequences(RECORD_TABLES[name], columns)


def _place_name(place: str) -> str:
    return place.removeprefix("Place(").removesuffix(")")
