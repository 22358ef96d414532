"""The distinct calls of a record: ops that share name, shapes, dtypes and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost.call import Call, Shape
from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES

Numbers = npt.NDArray[np.int64]
_Hashes = npt.NDArray[np.uint64]

_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")


class DistinctCalls(NamedTuple):
    """Each distinct call once, and which of them each op is, shape ``[ops]``."""

    calls: list[Call]
    of_op: Numbers
    raised: npt.NDArray[np.bool_]
    """Whether the first op of each call raised, shape ``[calls]``."""


def distinct_calls(record: Record) -> DistinctCalls:
    """Return the distinct calls among a record's ops.

    Two ops are one call if a 64-bit hash of all that a :class:`Call` holds is equal.
    """
    ops, uses, tensors = record.ops, record.uses, record.tensors
    counted = np.flatnonzero((uses["role"] != ROLES.index("result")) & (uses["tensor"] >= 0))
    if np.any(np.diff(uses["op"][counted]) < 0):
        counted = counted[np.argsort(uses["op"][counted], kind="stable")]
    op, tensor = uses["op"][counted], uses["tensor"][counted]
    what = mixed(
        tensors["shape"][tensor], tensors["dtype"][tensor], uses["role"][counted],
        uses["slot"][counted],
    )  # fmt: skip
    starts = np.flatnonzero(np.diff(op, prepend=-1))
    place = np.arange(len(op)) - np.repeat(starts, np.diff(np.append(starts, len(op))))
    sums = np.zeros(len(ops), np.uint64)
    if len(op):
        sums[op[starts]] = np.add.reduceat(mixed(what, place), starts)
    hashes = mixed(sums, ops["name"], ops["attributes"], ops["raised"])
    _, first, of_op = np.unique(hashes, return_index=True, return_inverse=True)
    ends = np.searchsorted(op, first, side="right")
    rows = [
        counted[begin:end].tolist()
        for begin, end in zip(np.searchsorted(op, first).tolist(), ends.tolist(), strict=True)
    ]
    calls = [_call(record, key, of) for key, of in zip(first.tolist(), rows, strict=True)]
    return DistinctCalls(calls, of_op.astype(np.int64), ops["raised"][first].astype(bool))


def _call(record: Record, op: int, uses: Sequence[int]) -> Call:
    inputs: list[tuple[int, Shape]] = []
    outputs: list[Shape] = []
    read: list[str] = []
    made: list[str] = []
    for use in uses:
        tensor = int(record.uses["tensor"][use])
        shape = parse_shape(record.text(int(record.tensors["shape"][tensor])))
        dtype = record.text(int(record.tensors["dtype"][tensor]))
        if record.uses["role"][use] == _INPUT:
            inputs.append((int(record.uses["slot"][use]), shape))
            read.append(dtype)
        elif record.uses["role"][use] == _OUTPUT:
            outputs.append(shape)
            made.append(dtype)
    return Call(
        record.text(int(record.ops["name"][op])),
        tuple(inputs),
        tuple(outputs),
        (*read, *made),
        record.text(int(record.ops["attributes"][op])),
    )


def mixed(*columns: npt.NDArray[Any]) -> _Hashes:
    """Return one hash per row of several columns (the finalizer of MurmurHash3 after each)."""
    state = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        state = (state + np.uint64(0x9E3779B97F4A7C15)) ^ column.astype(np.uint64)
        state ^= state >> np.uint64(33)
        state *= np.uint64(0xFF51AFD7ED558CCD)
        state ^= state >> np.uint64(33)
        state *= np.uint64(0xC4CEB9FE1A85EC53)
        state ^= state >> np.uint64(33)
    return state
