"""Which tensor each block was first: by the op that allocated it, or by address."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.blocks import NO_BLOCK, Blocks, blocks_at
from paddle_lab.capture.memory.events import Int64s
from paddle_lab.capture.memory.lifetimes import Bools
from paddle_lab.capture.memory.storages import Storage
from paddle_lab.capture.recorder import OUTPUT
from paddle_lab.trace.record import Record

NO_TENSOR = -1

# Devices allocate in units of up to this.
_LARGEST_ROUNDING_BYTES = 512


def outputs_of_ops(record: Record, blocks: Blocks, op: Int64s, outlives_op: Bools) -> Int64s:
    """Return the output tensor of its op that each block is, or -1.

    An op's outputs take its blocks in order, by size.

    Parameters
    ----------
    record
        Has the ops' outputs and the tensors' sizes.
    op, outlives_op
        Of each block, the op that allocated it, and whether it is still there when that returns.
    """
    found = np.full(len(blocks), NO_TENSOR, dtype=np.int64)
    uses, sizes = record.uses, record.tensors["bytes"]
    outputs: dict[int, list[int]] = {}
    is_output = uses["role"] == OUTPUT
    for op_key, tensor in zip(
        uses["op"][is_output].tolist(), uses["tensor"][is_output].tolist(), strict=True
    ):
        outputs.setdefault(op_key, []).append(tensor)
    chosen = np.flatnonzero((op >= 0) & outlives_op)
    for block, op_key, size in zip(
        chosen.tolist(), op[chosen].tolist(), blocks.bytes[chosen].tolist(), strict=True
    ):
        waiting = outputs.get(op_key, ())
        for tensor in waiting:
            if 0 <= size - int(sizes[tensor]) < _LARGEST_ROUNDING_BYTES and sizes[tensor]:
                found[block] = tensor
                outputs[op_key].remove(tensor)
                break
    return found


def add_blocks_from_before(
    blocks: Blocks, storages: Sequence[Storage], places: list[str]
) -> tuple[Blocks, list[int]]:
    """Add the blocks in which tensors are stored and of which no event tells.

    Parameters
    ----------
    blocks
        Those that events tell of.
    storages
        Where tensors are stored.
    places
        Names of places by number; new ones are added.

    Returns
    -------
    blocks, block_of_storage
        All blocks, and the position of each storage's among them.
    """
    added: dict[int, tuple[int, int, int]] = {}
    from_events = blocks_at(
        blocks,
        np.array([storage.address for storage in storages], dtype=np.int64),
        np.array([storage.time_ns for storage in storages], dtype=np.int64),
    ).tolist()
    for block, storage in zip(from_events, storages, strict=True):
        if block == NO_BLOCK:
            if storage.place not in places:
                places.append(storage.place)
            place = places.index(storage.place)
            added.setdefault(storage.address, (storage.address, storage.bytes, place))
    column = np.array(list(added.values()), dtype=np.int64).reshape(-1, 3)
    nothing = np.full(len(added), -1, dtype=np.int64)
    merged = Blocks(
        address=np.concatenate([column[:, 0], blocks.address]),
        bytes=np.concatenate([column[:, 1], blocks.bytes]),
        place=np.concatenate([column[:, 2], blocks.place]),
        thread=np.concatenate([nothing, blocks.thread]),
        start_ns=np.concatenate([nothing, blocks.start_ns]),
        end_ns=np.concatenate([nothing, blocks.end_ns]),
        end_thread=np.concatenate([nothing, blocks.end_thread]),
    )
    positions = {address: position for position, address in enumerate(added)}
    return merged, [
        positions[storage.address] if block == NO_BLOCK else block + len(added)
        for block, storage in zip(from_events, storages, strict=True)
    ]
