"""The costs of ops: operations and bytes, one row per op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost.call import Call, is_open
from paddle_lab.analysis.cost.distinct_calls import DistinctCalls, distinct_calls
from paddle_lab.analysis.cost.formulas import FORWARD
from paddle_lab.analysis.cost.formulas.formula import FREE, UNKNOWN, Cost
from paddle_lab.analysis.cost.formulas.movement import MOVEMENT
from paddle_lab.analysis.cost.sizes import output_bytes, saved_bytes
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import nearest_marked

_ON_GRAD_NODES = "paddle.grad"
"""The op that runs grad nodes; their costs are in their own table."""


def op_costs(record: Record, calls: DistinctCalls | None = None) -> Table:
    """Return the cost of each op.

    For ``flops`` and ``macs`` see :class:`~paddle_lab.analysis.cost.formulas.formula.Cost`. The ops
    inside a PyLayer have rows of their own, so the cost of the PyLayer's op is 0. ``output_bytes``
    is the size of the tensors that the op returned, even if they share memory with an input. For a
    saved program, the bytes that backward will keep are unknown.

    Parameters
    ----------
    record
        A record, with or without answer tables.
    calls
        The distinct calls of the record, if the caller has them.

    Returns
    -------
    Table
        The columns of ``op_costs`` in :mod:`paddle_lab.trace.schema`, shape ``[ops]``.
    """
    calls = distinct_calls(record) if calls is None else calls
    costs = [
        UNKNOWN if raised else call_cost(call)
        for call, raised in zip(calls.calls, calls.raised.tolist(), strict=True)
    ]
    flops, macs = columns(costs, calls.of_op)
    around, _ = with_inner_ops(record)
    is_pylayer = record.ops["is_pylayer"] != 0
    for column in (flops, macs):
        column[is_pylayer] = np.where(around, 0, -1)[is_pylayer]
    made, saved = (
        np.array([size(call) for call in calls.calls], np.int64)
        for size in (output_bytes, saved_bytes)
    )
    if not record.origin.duration_ns:  # a saved program, which has not run
        saved[:] = -1
    return Table(
        {
            "flops": flops,
            "macs": macs,
            "output_bytes": made[calls.of_op],
            "saved_bytes": saved[calls.of_op],
        }
    )


def call_cost(call: Call) -> Cost:
    """Return the cost of a call."""
    if call.name == _ON_GRAD_NODES:
        return FREE
    name = call.name if call.name in FORWARD else call.name.removesuffix("_")
    formula = FORWARD.get(name)
    if formula is None or (call.is_complex and name not in MOVEMENT):
        return UNKNOWN
    # A formula reads only the first output. The others may have unknown extents in a saved program.
    if is_open(*call.shapes, *call.outputs[:1]):
        return UNKNOWN
    try:
        return formula(call)
    except (IndexError, TypeError, ValueError):  # arguments that the formula does not know
        return UNKNOWN


def columns(
    costs: Sequence[Cost], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the columns ``flops`` and ``macs`` of the costs at the positions ``rows``."""
    table = np.array(costs, np.int64).reshape(-1, 2)
    return table[:, 0][rows], table[:, 1][rows]


_Mask = npt.NDArray[np.bool_]


def with_inner_ops(record: Record) -> tuple[_Mask, _Mask]:
    """Return which ops are PyLayers whose forward ran other ops, and the same for backward.

    A PyLayer's computations without Paddle (with NumPy, in a custom kernel) are not in the record.
    If a PyLayer ran no op, its cost is unknown.
    """
    scopes, ops = record.scopes, record.ops
    forward, backward = np.zeros(len(ops), bool), np.zeros(len(ops), bool)
    is_pylayer = scopes["kind"] == SCOPE_KINDS.index("pylayer")
    if not is_pylayer.any():
        return forward, backward
    # The last entry is for ops outside of all scopes.
    around = np.append(nearest_marked(scopes["parent"], is_pylayer), np.int32(-1))
    parents = np.append(scopes["parent"], np.int32(-1))
    own = ops["scope"]
    inside = around[np.where(ops["is_pylayer"] != 0, parents[own], own)]
    inside = np.unique(inside[inside >= 0])
    owners = scopes["op"][inside]
    inside, owners = inside[owners >= 0], owners[owners >= 0]
    is_forward = around[own[owners]] == inside
    forward[owners[is_forward]] = True
    backward[owners[~is_forward]] = True
    return forward, backward
