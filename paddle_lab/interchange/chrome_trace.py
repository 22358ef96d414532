"""Chrome's trace event format, for ui.perfetto.dev and chrome://tracing.

The file has one process. It has a row of slices for each thread (layers and ops), memory counters
for each place and kind, the ends of steps, and the lifetimes of the largest blocks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.memory import Memory
from paddle_lab.analysis.memory.timeline import Timeline, timeline
from paddle_lab.analysis.tables.ops import OpTable
from paddle_lab.interchange.slices import Slice, slices
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ALLOCATION_KINDS, SCOPE_KINDS

_PROCESS = 1
_BLOCKS_DRAWN = 500
"""How many blocks get a slice for their lifetime; each slice takes a row of the picture."""

Event = dict[str, Any]


def chrome_trace(attribution: Attribution) -> str:
    """Return a record as JSON in the "object form" of the trace event format.

    Parameters
    ----------
    attribution
        The owners of the blocks, for a record with answer tables.
    """
    # Write one event per line, so that tools such as less and diff can read a long file.
    lines = ",\n".join(_lines(attribution))
    origin = attribution.record.origin
    told = ("title", "paddle", "python", "created")
    about = json.dumps({name: getattr(origin, name) for name in told})
    return f'{{"displayTimeUnit":"ns","otherData":{about},"traceEvents":[\n{lines}\n]}}\n'


def _lines(attribution: Attribution) -> Iterator[str]:
    record = attribution.record
    for event in _events(attribution):
        yield json.dumps(event, separators=(",", ":"))
    if len(record.allocations) or len(record.memory_totals):
        main = Memory(attribution)
        for place in main.places:
            memory = main.on(place)
            yield from _counters(memory)
            for event in _largest_blocks(memory):
                yield json.dumps(event, separators=(",", ":"))


def _events(attribution: Attribution) -> Iterator[Event]:
    record = attribution.record
    yield _named("process_name", 0, record.origin.title or "trace")
    for thread in np.union1d(record.ops["thread"], record.scopes["thread"]).tolist():
        yield _named("thread_name", thread + 1, f"Python thread {thread}")
    ops = attribution.ops
    for part in slices(record):
        yield _slice(record, ops, part)
    for number, time_ns in enumerate(np.sort(record.steps["time_ns"]).tolist()):
        yield {**_event("i", f"step {number + 1}", time_ns), "s": "p"}


def _slice(record: Record, ops: OpTable, part: Slice) -> Event:
    if part.scope >= 0:
        kind = SCOPE_KINDS[record.scopes["kind"][part.scope]]
        layer = int(record.scopes["layer"][part.scope])
        name = record.text(int(record.scopes["name"][part.scope])) or kind
        if layer >= 0:
            name = record.text(int(record.layers["path"][layer])) or name
        about: Event = {"kind": kind}
        if part.op >= 0:
            about["op"] = part.op
        if layer >= 0:
            about["class"] = record.text(int(record.layers["class"][layer]))
    else:
        op = ops[part.op]
        kind, name = op.phase, op.name
        about = {
            "op": op.key,
            "layer": op.layer,
            "line": op.where,
            "outputs": [str(tensor) for tensor in op.outputs],
        }
    event = _event("X", name, part.start_ns)
    return {
        **event,
        "cat": kind,
        "dur": _microseconds(part.end_ns - part.start_ns),
        "tid": part.thread + 1,
        "args": about,
    }


def _counters(memory: Memory) -> Iterator[str]:
    """Yield a place's allocated bytes over time, in total and by kind, and the reserved bytes."""
    yield from _total(f"allocated {memory.place}", memory.timeline)
    known = memory.fragmentation()
    yield from _counter(f"reserved {memory.place}", known.time_ns, known.reserved_bytes)
    keys = memory.allocations.keys
    for kind, name in enumerate(ALLOCATION_KINDS):
        own = keys[memory.record.allocations["kind"][keys] == kind]
        yield from _total(f"{name} {memory.place}", timeline(memory.record, own))


def _total(name: str, total: Timeline) -> Iterator[str]:
    if total.start_bytes:
        yield from _counter(name, np.zeros(1, np.int64), np.array([total.start_bytes]))
    yield from _counter(name, total.time_ns, total.allocated_bytes)


def _largest_blocks(memory: Memory) -> Iterator[Event]:
    """Yield the peak, and the lifetimes of a place's largest blocks."""
    blocks, keys = memory.record.allocations, memory.allocations.keys
    yield {
        **_event("i", f"peak {memory.place}", memory.peak_ns),
        "s": "p",
        "args": {"bytes": memory.peak_bytes},
    }
    largest = keys[np.argsort(-blocks["bytes"][keys], kind="stable")[:_BLOCKS_DRAWN]]
    end_of_trace_ns = max(memory.timeline.end_ns, memory.record.origin.duration_ns)
    for block in AllocationTable(memory.attribution, largest):
        name = block.label or block.kind
        start_ns = block.start_ns or 0
        end_ns = end_of_trace_ns if block.end_ns is None else block.end_ns
        about = {
            "bytes": block.bytes,
            "kind": block.kind,
            "layer": block.layer,
            "line": block.where,
            "address": hex(block.address),
            "alive at the end": block.end_ns is None,
        }
        lane = {"cat": f"largest blocks {memory.place}", "id": block.key}
        yield {**_event("b", name, start_ns), **lane, "args": about}
        yield {**_event("e", name, end_ns), **lane}


def _counter(name: str, time_ns: Any, value: Any) -> Iterator[str]:
    # Most lines of a large file are counters. So they are written directly, without a dict for
    # each.
    head = f'{{"ph":"C","name":{json.dumps(name)},"pid":{_PROCESS},"ts":'
    for moment, amount in zip(time_ns.tolist(), value.tolist(), strict=True):
        yield f'{head}{_microseconds(moment)},"args":{{"bytes":{amount}}}}}'


def _event(phase: str, name: str, time_ns: int) -> Event:
    return {"ph": phase, "name": name, "ts": _microseconds(time_ns), "pid": _PROCESS, "tid": 1}


def _named(what: str, thread: int, name: str) -> Event:
    event: Event = {"ph": "M", "name": what, "pid": _PROCESS, "args": {"name": name}}
    return {**event, "tid": thread} if thread else event


def _microseconds(time_ns: int) -> float:
    """Return a time in microseconds. It is a tenth of a ns longer, because readers truncate it."""
    return round(time_ns / 1e3 + 1e-4, 4)
