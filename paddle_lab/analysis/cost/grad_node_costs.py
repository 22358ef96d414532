"""The costs of grad nodes: what one run of each computes.

A grad node computes the gradients of those inputs for which it has edges. A tensor may receive
several gradients. Adding them belongs to no grad node, and is not counted. ``paddle.grad`` may run
a grad node for some inputs only, but the cost still counts all inputs.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.distinct_calls import DistinctCalls, distinct_calls
from paddle_lab.analysis.cost.formulas import BACKWARD
from paddle_lab.analysis.cost.formulas.elementwise import (
    bias_backward,
    scaled_backward,
    unary_backward,
)
from paddle_lab.analysis.cost.formulas.formula import (
    FREE,
    UNKNOWN,
    Cost,
    GradFormula,
    free_backward,
)
from paddle_lab.analysis.cost.formulas.movement import MOVEMENT, MOVING_BACK, scattered_back
from paddle_lab.analysis.cost.op_costs import columns, with_inner_ops
from paddle_lab.trace.distinct import distinct
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import Table

_NAME = re.compile(r"(\w+?)GradNode(Final|Compat)?")
_ACCUMULATION: Final = "GradNodeAccumulation"
_PYLAYER: Final = "GradNodePyLayer"
_MOST_SLOTS: Final = 62
_CAST: Final = "cast"
"""If the inputs of an op differ in dtype, the op's grad node may be one of ``cast`` instead."""


def _key(name: str) -> str:
    return name.removesuffix("_").replace("_", "").lower()


_BY_KEY: Final = {_key(name): formula for name, formula in BACKWARD.items()}
_MOVING: Final = frozenset(map(_key, MOVING_BACK.split()))
_OTHER_NODES: Final[dict[tuple[str, str], GradFormula]] = {
    ("linear", "matmul"): BACKWARD["matmul"],
    ("linear", "add"): bias_backward,
    ("divide", "divscale"): scaled_backward,
    ("pow", "elementwisepow"): unary_backward,
    ("getitem", "indexelementwiseget"): scattered_back,
    ("setitem", "setvaluewithtensor"): free_backward,
    ("setitem", "indexelementwiseputwithtensor"): free_backward,
    **{(op, "scale"): scaled_backward for op in ("add", "subtract", "multiply", "divide")},
}
"""Formulas for ops that have the grad node of another op: ``x * 2`` has the node of ``scale``."""


def grad_node_costs(record: Record, calls: DistinctCalls | None = None) -> Table:
    """Return the cost of one run of each grad node.

    Parameters
    ----------
    record
        A record, with or without answer tables.
    calls
        The distinct calls of the record, if the caller has them.

    Returns
    -------
    Table
        The columns of ``grad_node_costs`` in :mod:`paddle_lab.trace.schema`, shape
        ``[grad_nodes]``. The cost of a node that accumulates a parameter's gradient is 0, although
        it adds the gradient to one of an earlier backward.
    """
    calls = distinct_calls(record) if calls is None else calls
    nodes = record.grad_nodes
    op, name = nodes["op"].astype(np.int64), nodes["name"].astype(np.int64)
    call = np.append(calls.of_op, -1)[op]  # the last entry is for nodes without an op
    needed = _needed(record)
    first, of_node = distinct(name, call, needed)
    costs = [
        _cost(
            record.text(name[node]),
            calls.calls[call[node]] if call[node] >= 0 else None,
            _slots(int(needed[node])),
        )
        for node in first.tolist()
    ]
    flops, macs = columns(costs, of_node)
    _, ran = with_inner_ops(record)
    codes = [code for code in np.unique(name) if record.text(code).startswith(_PYLAYER)]
    is_pylayer = np.isin(name, codes)
    known = np.append(ran, False)[op]
    for column in (flops, macs):
        column[is_pylayer] = np.where(known, 0, -1)[is_pylayer]
    return Table({"flops": flops, "macs": macs})


def _cost(name: str, call: Call | None, needed: frozenset[int]) -> Cost:
    if name == _ACCUMULATION:
        return FREE
    match = _NAME.fullmatch(name)
    if match is None or call is None:
        return UNKNOWN
    formula = _formula(_key(match[1]), call.name)
    if formula is None or call.is_complex:
        return UNKNOWN
    try:
        return formula(call, needed)
    except (IndexError, TypeError, ValueError):  # arguments that the formula does not know
        return UNKNOWN


def _formula(node: str, op: str) -> GradFormula | None:
    if node == _CAST:
        return free_backward
    if node == _key(op):
        return _BY_KEY.get(node)
    if node in _MOVING and op.removesuffix("_") in MOVEMENT:
        return _BY_KEY[node]
    return _OTHER_NODES.get((op.removesuffix("_"), node))


def _needed(record: Record) -> npt.NDArray[np.int64]:
    """Return which slots of each grad node have an edge, as the bits of a number."""
    edges = record.grad_edges
    masks = np.zeros(len(record.grad_nodes), np.int64)
    slots = np.clip(edges["slot"], 0, _MOST_SLOTS).astype(np.int64)
    np.bitwise_or.at(masks, edges["source"], np.left_shift(np.int64(1), slots))
    return masks


def _slots(mask: int) -> frozenset[int]:
    return frozenset(slot for slot in range(_MOST_SLOTS + 1) if mask >> slot & 1)
