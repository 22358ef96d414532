"""Adds the table of holders to a record, from a search for living tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.holders.living import ALIGNMENT_BYTES, BackwardGraph, LivingTensor
from paddle_lab.holders.saved import saved_by
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import HOLDER_KINDS, RECORD_TABLES
from paddle_lab.trace.table import StringPool, TableBuilder
from paddle_lab.words import say

_MOST_HOLDERS = 8
"""The most holders that are recorded for one block."""

_Keys = npt.NDArray[np.int64]


def with_holders(
    record: Record, tensors: Sequence[LivingTensor], graphs: Sequence[BackwardGraph]
) -> Record:
    """Return the record with one row for each holder of each block that is still allocated.

    If no living tensor is in a block, its holders are the backward graphs with the block's op. A
    block without holders gets a row of kind ``"unknown"``.

    Parameters
    ----------
    record
        A record with allocations, whose cell has just ended.
    tensors
        References to living tensors.
    graphs
        The backward graphs that living tensors keep alive.
    """
    blocks = record.allocations
    alive = np.flatnonzero(blocks["end_ns"] < 0).astype(np.int64)
    alive = alive[np.argsort(blocks["address"][alive], kind="stable")]
    names: dict[int, list[tuple[str, str]]] = {int(key): [] for key in alive}
    for key, tensor in zip(_block_of(record, alive, tensors), tensors, strict=True):
        if key >= 0:
            is_view = tensor.bytes + ALIGNMENT_BYTES <= min(
                tensor.storage_bytes, int(blocks["bytes"][key])
            )
            names[key].append(("view" if is_view else tensor.kind, tensor.name))
    unheld = np.array([key for key, holders in names.items() if not holders], dtype=np.int64)
    for key, keepers in saved_by(record, unheld, graphs):
        names[key] += [("backward_graph", name) for name in keepers]
    strings = StringPool(record.strings)
    rows = TableBuilder(RECORD_TABLES["holders"])
    for key in sorted(names):
        holders = dict.fromkeys(names[key][:_MOST_HOLDERS]) or [("unknown", "")]
        rows.append_cells(
            chain.from_iterable(
                (key, HOLDER_KINDS.index(kind), strings[name]) for kind, name in holders
            )
        )
    tables = {**record.tables, "holders": rows.build()}
    return replace(record, tables=tables, strings=strings.to_list())


def unexplained_bytes(record: Record) -> int:
    """Return how many allocated bytes have no known holder."""
    holders = record.holders
    keys = holders["allocation"][holders["kind"] == HOLDER_KINDS.index("unknown")]
    return int(record.allocations["bytes"][keys].sum())


def held_by(
    record: Record, keys: npt.NDArray[np.integer[Any]], tensors: Sequence[LivingTensor]
) -> list[tuple[str, int]]:
    """Return the holders of blocks with their bytes, the largest first. Each block counts once.

    Parameters
    ----------
    record
        A record with holders.
    keys
        The blocks.
    tensors
        The references that gave the holders. A block counts for the root of its reference.
    """
    roots = {tensor.name: tensor.root.label for tensor in tensors}
    rows = record.holders
    blocks, first = np.unique(rows["allocation"], return_index=True)
    sizes: dict[str, int] = {}
    for row in first[np.isin(blocks, keys)]:
        name = record.text(rows["name"][row])
        kind = HOLDER_KINDS[rows["kind"][row]]
        if kind == "backward_graph":
            label = say("memory.held_by.backward_graphs", name=roots.get(name, name))
        elif kind == "unknown":
            label = say("memory.held_by.nobody")
        else:
            label = roots.get(name, name)
        size = int(record.allocations["bytes"][rows["allocation"][row]])
        sizes[label] = sizes.get(label, 0) + size
    return sorted(sizes.items(), key=lambda pair: -pair[1])


def _block_of(record: Record, alive: _Keys, tensors: Sequence[LivingTensor]) -> list[int]:
    """Return for each tensor the living block that contains its storage, or -1."""
    if not len(alive):
        return [-1] * len(tensors)
    starts = record.allocations["address"][alive]
    ends = starts + record.allocations["bytes"][alive]
    addresses = np.array([tensor.address for tensor in tensors], dtype=np.int64)
    at = np.searchsorted(starts, addresses, side="right") - 1
    is_inside = (at >= 0) & (addresses < ends[at])
    return [int(key) for key in np.where(is_inside, alive[at], -1)]
