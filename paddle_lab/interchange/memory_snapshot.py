"""The snapshot format of PyTorch's memory viewer (pytorch.org/memory_viz).

The format is a pickle, as ``torch.cuda.memory._dump_snapshot()`` writes it. The viewer reads only
plain dicts, lists, numbers and text. This module writes pickles, but never reads one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.memory.allocations import Allocation, AllocationTable
from paddle_lab.analysis.memory.attribution import Attribution
from paddle_lab.analysis.memory.block_map import address_ranges
from paddle_lab.analysis.memory.memory import Memory
from paddle_lab.analysis.memory.timeline import changes
from paddle_lab.garbage import collection_paused
from paddle_lab.trace.schema import ALLOCATION_KINDS

_PROTOCOL = 4
"""The newest pickle protocol that the viewer reads."""
_UNSEEN_ADDRESS = 1 << 12
"""The address, below all others, of one block for all memory without known blocks."""

Frames = list[dict[str, Any]]


def memory_snapshot(attribution: Attribution) -> bytes:
    """Return a record's memory as a snapshot.

    Each place becomes a device of the viewer. GPUs keep their numbers. The first frame of each
    stack contains the op, the layer and the kind. Paddle does not report the chunks of its
    allocator, so ranges of addresses with blocks are shown as segments.

    Parameters
    ----------
    attribution
        The owners of the blocks.
    """
    # A million allocations become three million dicts. Collections would visit them and free
    # nothing.
    with collection_paused():
        return pickle.dumps(_snapshot(Memory(attribution)), protocol=_PROTOCOL)


def _snapshot(main: Memory) -> dict[str, Any]:
    frames = _frames_of(main.attribution)
    devices = _device_numbers(list(main.places))
    traces: list[list[dict[str, Any]]] = [[] for _ in range(max(devices.values()) + 1)]
    segments: list[dict[str, Any]] = []
    for place, device in devices.items():
        memory = main.on(place)
        traces[device] = _events(memory, frames)
        segments += _segments(memory, device, frames)
    return {
        "segments": segments,
        "device_traces": traces,
        "allocator_settings": {"made_by": "paddle_lab"},
        "external_annotations": [],
    }


def _device_numbers(places: list[str]) -> dict[str, int]:
    """Return the device number of each place: 1 for ``gpu:1``, otherwise the next free number."""
    numbers: dict[str, int] = {}
    for place in places:
        name, _, number = place.rpartition(":")
        if name and number.isdecimal() and int(number) < 64 and int(number) not in numbers.values():
            numbers[place] = int(number)
    free = (number for number in range(len(places) + 64) if number not in numbers.values())
    for place in places:
        if place not in numbers:
            numbers[place] = next(free)
    return numbers


def _frames_of(attribution: Attribution) -> Callable[[int], Frames]:
    """Return a function that returns the frames of a block. Equal blocks share a list."""
    blocks = attribution.record.allocations
    parts = [blocks[name] for name in ("stack", "op", "grad_node", "kind")]
    _, first, group = np.unique(
        np.stack(parts, axis=1), axis=0, return_index=True, return_inverse=True
    )
    lists = [_frames(Allocation(attribution, key)) for key in first.tolist()]
    groups = group.ravel().tolist()
    return lambda key: lists[groups[key]]


def _frames(block: Allocation) -> Frames:
    op, layer = block.op, block.layer
    what = "before the trace" if block.start_ns is None else "no op"
    if op is not None:
        what = f"op {op.key} {op.name}"
    if block.grad_node is not None:
        what += ", backward"
    if layer:
        what += f" in {layer}"
    return [
        {"filename": what, "line": op.key if op else 0, "name": block.kind},
        *(
            {"filename": frame.file, "line": frame.line, "name": frame.function}
            for frame in block.stack
        ),
    ]


def _events(memory: Memory, frames: Callable[[int], Frames]) -> list[dict[str, Any]]:
    """Return allocations and releases in order. Like in PyTorch, a release is two events."""
    blocks = memory.record.allocations
    time_ns, keys, is_end = changes(memory.record, memory.allocations.keys)
    rows = zip(
        keys.tolist(),
        is_end.tolist(),
        (time_ns // 1000).tolist(),
        *(blocks[name][keys].tolist() for name in ("address", "bytes", "kind")),
        strict=True,
    )
    # Some versions of the viewer fail if no event has the category "unknown".
    events = [_event("snapshot", 0, 0, 0, [], "unknown")]
    for key, frees, time_us, address, size, kind in rows:
        actions = ("free_requested", "free_completed") if frees else ("alloc",)
        for action in actions:
            category = ALLOCATION_KINDS[kind]
            events.append(_event(action, address, size, time_us, frames(key), category))
    failure = memory.out_of_memory
    if failure is not None and failure.requested_bytes is not None:
        oom = _event("oom", 0, failure.requested_bytes, failure.time_ns // 1000, [], "unknown")
        events.append({**oom, "device_free": failure.available_bytes or 0})
    return events


def _event(
    action: str, address: int, size: int, time_us: int, frames: Frames, category: str
) -> dict[str, Any]:
    return {
        "action": action,
        "addr": address,
        "size": size,
        "stream": 0,
        "time_us": time_us,
        "frames": frames,
        "category": category,
    }


def _segments(memory: Memory, device: int, frames: Callable[[int], Frames]) -> list[dict[str, Any]]:
    """Return the address ranges with blocks that are alive at the end of the trace."""
    table, keys = memory.record.allocations, memory.allocations.keys
    begins, ends = address_ranges(table["address"][keys], table["bytes"][keys])
    alive = keys[table["end_ns"][keys] < 0]
    alive = alive[np.argsort(table["address"][alive], kind="stable")]
    owner = np.searchsorted(begins, table["address"][alive], side="right") - 1
    firsts = np.searchsorted(owner, np.arange(len(begins) + 1))
    segments = [
        _segment(device, begin, end, _blocks(memory, begin, end, alive[first:last], frames))
        for begin, end, first, last in zip(
            begins.tolist(), ends.tolist(), firsts[:-1].tolist(), firsts[1:].tolist(), strict=True
        )
    ]
    if memory.unseen_bytes:
        size = memory.unseen_bytes
        unseen = [{"filename": "before the trace, not used in it", "line": 0, "name": "unknown"}]
        block = _block("active_allocated", _UNSEEN_ADDRESS, size, size, unseen)
        segments.append(_segment(device, _UNSEEN_ADDRESS, _UNSEEN_ADDRESS + size, [block]))
    return segments


def _blocks(
    memory: Memory, begin: int, end: int, alive: npt.NDArray[Any], frames: Callable[[int], Frames]
) -> list[dict[str, Any]]:
    """Return the blocks and the gaps of an address range, in order."""
    blocks = []
    reached = begin
    for block in AllocationTable(memory.attribution, alive):
        if block.address < reached:
            continue  # No two living blocks overlap, except in a damaged trace.
        if block.address > reached:
            blocks.append(_block("inactive", reached, block.address - reached, 0, []))
        size = max(block.bytes, 1)
        blocks.append(
            _block("active_allocated", block.address, size, block.bytes, frames(block.key))
        )
        reached = block.address + size
    if reached < end:
        blocks.append(_block("inactive", reached, end - reached, 0, []))
    return blocks


def _block(state: str, address: int, size: int, requested: int, frames: Frames) -> dict[str, Any]:
    return {
        "address": address,
        "size": size,
        "requested_size": requested,
        "state": state,
        "frames": frames,
    }


def _segment(device: int, begin: int, end: int, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    active = sum(block["size"] for block in blocks if block["state"] == "active_allocated")
    return {
        "device": device,
        "address": begin,
        "total_size": end - begin,
        "allocated_size": active,
        "active_size": active,
        "requested_size": sum(block["requested_size"] for block in blocks),
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": [0, 0],
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }
