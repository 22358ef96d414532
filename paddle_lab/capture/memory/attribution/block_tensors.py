"""Finds the first tensor in each block: by the op that allocated the block, or by address."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.held.blocks import NO_BLOCK, Blocks, blocks_at
from paddle_lab.capture.memory.log.events import CPU, HOST, PLACES, AllocatorEvents, Int64s, Mask
from paddle_lab.capture.memory.storages import Storage
from paddle_lab.capture.recorder.recorder import OUTPUT
from paddle_lab.trace.record import Record

NO_TENSOR = -1

# Devices round sizes up to a multiple of this number, or of a smaller one.
_LARGEST_ROUNDING_BYTES = 512
_PAGE_BYTES = 4096
_LEAST_EVENTS = 4
"""If there are fewer events, the addresses may fit by chance."""


def outputs_of_ops(record: Record, blocks: Blocks, op: Int64s, outlives_op: Mask) -> Int64s:
    """Return, for each block, the output tensor that is stored in it, or -1.

    An op's outputs are matched to its blocks in order, by size.

    Parameters
    ----------
    record
        Has the ops' outputs and the tensors' sizes.
    op, outlives_op
        For each block: the op that allocated it, and whether it is alive when the op returns.
    """
    found = np.full(len(blocks), NO_TENSOR, dtype=np.int64)
    uses, sizes = record.uses, record.tensors["bytes"]
    is_output = uses["role"] == OUTPUT
    maker, made = uses["op"][is_output], uses["tensor"][is_output]
    output_count = np.bincount(maker, minlength=len(record.ops))
    chosen = np.flatnonzero((op >= 0) & outlives_op)
    # Nearly all ops have one output, which is in the op's first block of that size.
    only_output = np.full(len(record.ops), NO_TENSOR, np.int64)
    only_output[maker] = made
    of_one = chosen[output_count[op[chosen]] == 1]
    rest = blocks.bytes[of_one] - sizes[only_output[op[of_one]]]
    fits = (rest >= 0) & (rest < _LARGEST_ROUNDING_BYTES) & (rest < blocks.bytes[of_one])
    of_one = of_one[fits]
    makers, first = np.unique(op[of_one], return_index=True)
    found[of_one[first]] = only_output[makers]
    outputs: dict[int, list[int]] = {}
    has_several = output_count[maker] > 1
    for op_key, tensor in zip(maker[has_several].tolist(), made[has_several].tolist(), strict=True):
        outputs.setdefault(op_key, []).append(tensor)
    of_several = chosen[output_count[op[chosen]] > 1]
    for block, op_key, size in zip(
        of_several.tolist(), op[of_several].tolist(), blocks.bytes[of_several].tolist(), strict=True
    ):
        waiting = outputs[op_key]
        for tensor in waiting:
            if 0 <= size - int(sizes[tensor]) < _LARGEST_ROUNDING_BYTES and sizes[tensor]:
                found[block] = tensor
                waiting.remove(tensor)
                break
    return found


def add_blocks_from_before(blocks: Blocks, storages: Sequence[Storage]) -> tuple[Blocks, Int64s]:
    """Add the blocks of tensors that no allocator event records.

    Parameters
    ----------
    blocks
        The blocks that allocator events record.
    storages
        Where tensors are stored.

    Returns
    -------
    blocks, block_of_storage
        All blocks, and the position of each storage's block, shape ``[storages]``.
    """
    address = np.array([storage.address for storage in storages], np.int64)
    times_ns = np.array([storage.time_ns for storage in storages], np.int64)
    found = blocks_at(blocks, address, times_ns)
    added: dict[int, tuple[int, int, int]] = {}
    for position in np.flatnonzero(found == NO_BLOCK).tolist():
        one = storages[position]
        added.setdefault(one.address, (one.address, one.bytes, PLACES.number(one.place)))
    before = np.full((9, len(added)), -1)
    before[:3] = np.array(list(added.values()), np.int64).reshape(-1, 3).T
    positions = {address: position for position, address in enumerate(added)}
    at_address = np.array([positions.get(one, -1) for one in address.tolist()], np.int64)
    block_of_storage = np.where(found == NO_BLOCK, at_address, found + len(added))
    return Blocks.joined([Blocks(*before), blocks]), block_of_storage


def paddles_own(storages: Sequence[Storage], events: AllocatorEvents) -> list[Storage]:
    """Return the storages that Paddle's allocator may have allocated.

    Two kinds of tensors are stored elsewhere: batches from a data loader's workers are in shared
    memory, and tensors made by ``from_dlpack`` are in memory of the other library. No allocator
    event records them, so they would look older than the trace. They are recognized by their
    addresses: Paddle's allocator aligns all its blocks in the same way.

    Parameters
    ----------
    storages
        Where tensors are stored.
    events
        The allocator's events. The alignment of host blocks is computed from their addresses.
    """
    addresses = events.address[events.place == HOST]
    if len(addresses) < _LEAST_EVENTS:
        return list(storages)
    common = int(np.bitwise_or.reduce(addresses)) | _PAGE_BYTES
    alignment_bytes = common & -common
    return [one for one in storages if one.place != CPU or one.address % alignment_bytes == 0]
