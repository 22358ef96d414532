"""Fills the record's tables of memory from allocator events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from paddle_lab.capture.memory.attribution.backward_runs import BackwardRuns
from paddle_lab.capture.memory.attribution.block_tensors import (
    add_blocks_from_before,
    outputs_of_ops,
    paddles_own,
)
from paddle_lab.capture.memory.attribution.kinds import StoredTensors, find_kinds, storage_roots
from paddle_lab.capture.memory.attribution.owners import find_lifetimes, find_owners
from paddle_lab.capture.memory.capture import MemoryCapture
from paddle_lab.capture.memory.held.blocks import ALIVE, BEFORE, Blocks, pair_events
from paddle_lab.capture.memory.held.held_events import HeldEvents
from paddle_lab.capture.memory.log.events import PLACES, RESERVED_ALLOCATE, AllocatorEvents, Int64s
from paddle_lab.capture.tables.optimizer_ops import optimizer_steps, training_steps
from paddle_lab.capture.tables.row_keys import RecordKeys
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, RECORD_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.words import say


def add_memory(record: Record, memory: MemoryCapture, keys: RecordKeys) -> None:
    """Fill the tables ``allocations``, ``memory_totals`` and ``steps`` of a record.

    Parameters
    ----------
    record
        The record, complete except for these tables.
    memory
        The memory events that the trace recorded.
    keys
        Maps the recorder's keys to rows of the record.
    """
    strings = StringPool(record.strings)
    memory.hold(memory.waiting)
    left_out = memory.keep_within_limit()
    events = memory.held.events()
    blocks, stored = _stored(memory, events)
    if memory.held.counted.missed_bytes:
        missed = say("notices.memory.missed", size=memory.held.counted.missed_bytes)
        record.origin.notices.append(missed)
    columns = _columns(record, memory, keys, blocks, stored)
    if left_out:
        sums = _sum_rows(blocks, memory.held)
        sums["scope"] = np.full(len(sums["place"]), _add_sum_scope(record, strings))
        columns = {name: np.append(column, sums[name]) for name, column in columns.items()}
    place, end_ns = columns["place"], columns["end_ns"]
    codes = {number: strings[PLACES.name(number)] for number in np.unique(place).tolist()}
    columns["place"] = np.array([codes[number] for number in place.tolist()], np.int64)
    start_ns = np.where(columns["start_ns"] == BEFORE, -1, columns["start_ns"] - memory.start_ns)
    columns["start_ns"] = start_ns
    columns["end_ns"] = np.where(end_ns == ALIVE, -1, end_ns - memory.start_ns)
    order = np.argsort(start_ns, kind="stable")
    _add(record, "allocations", {name: column[order] for name, column in columns.items()})
    _add_totals(record, memory, events, strings)
    steps = memory.steps or training_steps(
        record, memory.optimizer_steps if record.origin.kept else optimizer_steps(record)
    )
    if left_out:
        # Steps can be compared only if all blocks were recorded.
        times_ns = np.array([time_ns for time_ns, _ in steps], np.int64) + memory.start_ns
        is_sum = memory.held.highs.is_covered(times_ns).tolist()
        steps = [step for step, is_unknown in zip(steps, is_sum, strict=True) if not is_unknown]
        record.origin.notices.append(left_out)
    _add(
        record,
        "steps",
        {"time_ns": [time for time, _ in steps], "scope": [scope for _, scope in steps]},
    )
    record.strings = strings.to_list()


def _stored(memory: MemoryCapture, events: AllocatorEvents) -> tuple[Blocks, StoredTensors]:
    """Return all blocks, those from before the trace first, and the tensors stored in them."""
    met = memory.storages.met
    for found in (met, memory.living, memory.living_gradients):
        found[:] = paddles_own(found, events)
    storages = [*met, *memory.living, *memory.living_gradients]
    blocks, block = add_blocks_from_before(pair_events(events), storages)
    count = len(met) + len(memory.living)
    return blocks, StoredTensors(
        block=block[:count],
        tensor=np.array([storage.tensor for storage in storages[:count]], np.int64),
        is_alive=np.arange(count) >= len(met),
        gradients=block[count:],
        buffers=memory.buffers,
    )


def _columns(
    record: Record, memory: MemoryCapture, keys: RecordKeys, blocks: Blocks, stored: StoredTensors
) -> dict[str, Int64s]:
    """Return the columns of ``allocations``; times and places are as in the blocks."""
    spans = [(keys.backward_calls.row(call), span) for call, span in memory.backward_spans]
    runs = BackwardRuns(record, memory.held.runs, spans)
    in_ops = replace(blocks, start_ns=blocks.own_start_ns, end_ns=blocks.own_end_ns)
    owners = find_owners(record, in_ops, runs, memory)
    lifetimes = find_lifetimes(record, in_ops, owners, runs, memory.start_ns)
    outlives = ~lifetimes.ends_in_maker & ((owners.grad_node < 0) | owners.is_inner)
    tensor = outputs_of_ops(record, blocks, owners.op, outlives)
    step_ends_ns = np.array([time_ns for time_ns, _ in memory.optimizer_steps], np.int64)
    step_ends_ns = np.sort(step_ends_ns) + memory.start_ns
    kind = find_kinds(record, blocks, owners, lifetimes, tensor, stored, step_ends_ns)
    # If several tensors were in a block, use the one that the trace saw first.
    stored_block, first = np.unique(stored.block, return_index=True)
    is_open = tensor[stored_block] < 0
    tensor[stored_block[is_open]] = storage_roots(record)[stored.tensor[first[is_open]]]
    return {
        "address": blocks.address,
        "bytes": blocks.bytes,
        "place": blocks.place,
        "start_ns": blocks.start_ns,
        "end_ns": blocks.end_ns,
        "thread": owners.thread,
        "op": np.where(owners.op < 0, owners.copied_op, owners.op),
        "grad_node": owners.grad_node,
        "scope": owners.scope,
        "stack": owners.stack,
        "phase": owners.phase,
        "tensor": tensor,
        "kind": kind,
    }


def _sum_rows(blocks: Blocks, held: HeldEvents) -> dict[str, Any]:
    """Return rows that preserve the peaks of the running total although blocks were forgotten.

    They are columns of ``allocations``, with times of ``perf_counter_ns`` and numbers of places.
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


def _add_sum_scope(record: Record, strings: StringPool) -> int:
    """Add the scope of these rows to a record. Return the scope's row."""
    kind, name = SCOPE_KINDS.index("sum"), strings[say("notices.limit.other_blocks")]
    record.tables["scopes"] = record.scopes.appended(kind=[kind], name=[name], thread=[0])
    return len(record.scopes) - 1


def _add_totals(
    record: Record, memory: MemoryCapture, events: AllocatorEvents, strings: StringPool
) -> None:
    counted = memory.held.counted
    times = [reading.time_ns for reading in memory.readings]
    first_ns, last_ns = (min(times), max(times)) if times else (-1, -1)
    rows = []
    for reading in memory.readings:
        allocated_bytes, number = reading.allocated_bytes, PLACES.number(f"Place({reading.place})")
        # The log begins before the first reading and ends after the last, so events of other
        # threads in between are recorded.
        if reading.time_ns == first_ns:
            allocated_bytes = counted.first.get(number, allocated_bytes)
        elif reading.time_ns == last_ns and not memory.notices:
            allocated_bytes = counted.last.get(number, allocated_bytes)
        rows.append((reading.time_ns, reading.place, allocated_bytes, reading.reserved_bytes))
    # Only devices reserve memory: on the host the system allocates each block.
    changes = events.chosen(events.kind >= RESERVED_ALLOCATE)
    rows.extend(
        zip(
            changes.time_ns.tolist(),
            map(PLACES.name, changes.place.tolist()),
            changes.allocated_bytes.tolist(),
            changes.reserved_bytes.tolist(),
            strict=True,
        )
    )
    coded = sorted((time_ns, strings[place], *sizes) for time_ns, place, *sizes in rows)
    table = np.array(coded, np.int64).reshape(-1, 4)
    table[:, 0] -= memory.start_ns
    _add(record, "memory_totals", dict(zip(RECORD_TABLES["memory_totals"], table.T, strict=True)))


def _add(record: Record, name: str, columns: dict[str, Any]) -> None:
    record.tables[name] = Table.from_sequences(RECORD_TABLES[name], columns)
