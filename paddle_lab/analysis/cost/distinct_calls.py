"""The distinct calls of a record: ops with equal names, shapes, dtypes and attributes share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost.call import Call, Operand
from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.distinct import Numbers, distinct, mixed
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES, TENSOR_KINDS

_INPUT, _RESULT = ROLES.index("input"), ROLES.index("result")


class DistinctCalls(NamedTuple):
    """The distinct calls, and for each op the number of its call, shape ``[ops]``."""

    calls: list[Call]
    of_op: Numbers
    raised: npt.NDArray[np.bool_]
    """Whether the first op of each call raised, shape ``[calls]``."""


def distinct_calls(record: Record) -> DistinctCalls:
    """Return the distinct calls among a record's ops.

    Two ops share a call if 64-bit hashes of all data in :class:`Call` are equal.
    """
    ops, uses, tensors = record.ops, record.uses, record.tensors
    counted = np.flatnonzero((uses["role"] != _RESULT) & (uses["tensor"] >= 0))
    if np.any(np.diff(uses["op"][counted]) < 0):
        counted = counted[np.argsort(uses["op"][counted], kind="stable")]
    op = uses["op"][counted]
    looks = mixed(
        tensors["shape"], tensors["dtype"], tensors["bytes"],
        tensors["stop_gradient"] * len(TENSOR_KINDS) + tensors["kind"],
    )  # fmt: skip
    tensor = uses["tensor"][counted]
    repeats = np.zeros(len(op), np.int64)
    repeats[1:] = (tensor[1:] == tensor[:-1]) & (op[1:] == op[:-1])
    as_what = (uses["slot"][counted] * 2 + repeats) * len(ROLES) + uses["role"][counted]
    starts = np.flatnonzero(np.diff(op, prepend=-1))
    place = np.arange(len(op)) - np.repeat(starts, np.diff(np.append(starts, len(op))))
    sums = np.zeros(len(ops), np.uint64)
    if len(op):
        sums[op[starts]] = np.add.reduceat(mixed(looks[tensor], as_what + (place << 20)), starts)
    first, of_op = distinct(sums, ops["name"], ops["attributes"], ops["raised"])
    ends = np.searchsorted(op, first, side="right")
    rows = [
        counted[begin:end].tolist()
        for begin, end in zip(np.searchsorted(op, first).tolist(), ends.tolist(), strict=True)
    ]
    calls = [_call(record, key, of) for key, of in zip(first.tolist(), rows, strict=True)]
    return DistinctCalls(calls, of_op, ops["raised"][first].astype(bool))


def _call(record: Record, op: int, uses: Sequence[int]) -> Call:
    read: list[Operand] = []
    made: list[Operand] = []
    last = -1
    for use in uses:
        tensor = int(record.uses["tensor"][use])
        operand = _operand(record, use, tensor, repeats=tensor == last)
        (read if record.uses["role"][use] == _INPUT else made).append(operand)
        last = tensor
    return Call(
        record.text(int(record.ops["name"][op])),
        tuple(read),
        tuple(made),
        record.text(int(record.ops["attributes"][op])),
    )


def _operand(record: Record, use: int, tensor: int, *, repeats: bool) -> Operand:
    columns = record.tensors
    return Operand(
        int(record.uses["slot"][use]),
        parse_shape(record.text(int(columns["shape"][tensor]))),
        record.text(int(columns["dtype"][tensor])),
        int(columns["bytes"][tensor]),
        columns["stop_gradient"][tensor] == 0,
        TENSOR_KINDS[columns["kind"][tensor]] in ("parameter", "buffer"),
        repeats,
    )
