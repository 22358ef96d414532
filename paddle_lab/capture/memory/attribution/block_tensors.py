"""Which tensor each block was first: by the op that allocated it, or by address."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle_lab.capture.memory.attribution.lifetimes import Bools
from paddle_lab.capture.memory.held.blocks import NO_BLOCK, Blocks, blocks_at
from paddle_lab.capture.memory.log.event_columns import CPU, PINNED, Int64s
from paddle_lab.capture.memory.storages import Storage
from paddle_lab.capture.recorder.recorder import OUTPUT
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
    is_output = uses["role"] == OUTPUT
    maker, made = uses["op"][is_output], uses["tensor"][is_output]
    output_count = np.bincount(maker, minlength=len(record.ops))
    chosen = np.flatnonzero((op >= 0) & outlives_op)
    # Nearly all ops have one output, which the first block takes that is of its size.
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


def add_blocks_from_before(
    blocks: Blocks, storages: Sequence[Storage], places: list[str]
) -> tuple[Blocks, Int64s]:
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
        All blocks, and the position of each storage's among them, shape ``[storages]``.
    """
    added: dict[int, tuple[int, int, int]] = {}
    from_events = blocks_at(
        blocks,
        np.array([storage.address for storage in storages], dtype=np.int64),
        np.array([storage.time_ns for storage in storages], dtype=np.int64),
    )
    unknown = np.flatnonzero(from_events == NO_BLOCK).tolist()
    for storage in map(storages.__getitem__, unknown):
        name = CPU if storage.place == PINNED else storage.place
        if name not in places:
            places.append(name)
        place = places.index(name)
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
    block_of_storage = from_events + len(added)
    block_of_storage[unknown] = [positions[storages[one].address] for one in unknown]
    return merged, block_of_storage
