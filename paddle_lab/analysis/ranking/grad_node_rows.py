"""The rows of ``trace.table(by="node")``: grad nodes by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.kernels.roofline import kernel_ns
from paddle_lab.analysis.tables.columns import Partial, Values
from paddle_lab.analysis.tables.tensors import parse_shape
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import BACKWARD_KINDS, TENSOR_KINDS
from paddle_lab.trace.trees import outermost, taken

_REMAINING = BACKWARD_KINDS.index("remaining")
_NOT_KNOWN = ("self_ns", "total_ns")


def grad_node_columns(record: Record) -> dict[str, Values]:
    """Return one row for each name of grad nodes, with sums over their runs.

    Paddle does not report how long a grad node ran, nor how large its outputs were.
    """
    nodes, ran = record.grad_nodes, node_runs(record)
    codes, name = np.unique(nodes["name"], return_inverse=True)
    row, count = name[ran], len(codes)
    columns: dict[str, Values] = {
        "node": [record.text(code) for code in codes.tolist()],
        "calls": np.bincount(row, minlength=count),
        **{each: Partial(np.zeros(count, np.int64), np.ones(count, bool)) for each in _NOT_KNOWN},
        "kernel_ns": _sums(kernel_ns(record, "grad_node"), name, count),
    }
    for each in ("flops", "macs"):
        columns[each] = _sums(record.grad_node_costs[each][ran], row, count)
    saved = _saved_bytes(record)
    return {
        **columns,
        "output_bytes": Partial(np.zeros(count, np.int64), np.ones(count, bool)),
        "saved_bytes": _sums(saved, name, count),
        "unknown_flops": _unknown(record.grad_node_costs["flops"][ran], row, count),
        "unknown_saved_bytes": _unknown(saved, name, count),
        **_parameters(record, name, count),
        "dtype": _dtypes(record, name, count),
    }


def node_runs(record: Record) -> npt.NDArray[Any]:
    """Return the grad node of each run. A node of a retained graph may run several times."""
    members = record.backward_members
    kind = np.append(record.backward_calls["kind"], _REMAINING)[members["backward_call"]]
    ran: npt.NDArray[Any] = members["grad_node"][kind != _REMAINING]
    return ran


def _saved_bytes(record: Record) -> npt.NDArray[Any]:
    """Return the bytes that each grad node keeps; -1 if its op made several nodes."""
    op = record.grad_nodes["op"]
    nodes_of_op = np.bincount(op[op >= 0], minlength=len(record.ops))
    saved = taken(record.op_costs["saved_bytes"], op)
    return np.where((saved > 0) & (taken(nodes_of_op, op) > 1), -1, saved)


def _sums(values: npt.NDArray[Any], row: npt.NDArray[Any], count: int) -> Partial:
    """Return the sum of the known values of each row. A value below 0 is unknown."""
    known = np.bincount(row, np.maximum(values, 0), count).astype(np.int64)
    return Partial(known, (known == 0) & (_unknown(values, row, count) > 0))


def _unknown(values: npt.NDArray[Any], row: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    return np.bincount(row, values < 0, count).astype(np.int64)


def _parameters(record: Record, name: npt.NDArray[Any], count: int) -> dict[str, Values]:
    """Return the parameters whose gradients the nodes accumulate; unknown for other nodes."""
    tensors, leaf = record.tensors, record.grad_nodes["parameter"]
    # After an optimizer's step, the same parameter has a new tensor row.
    leaf = taken(outermost(tensors["previous"]), leaf)
    is_parameter = taken(tensors["kind"] == TENSOR_KINDS.index("parameter"), leaf) == 1
    parameter, first = np.unique(leaf[is_parameter], return_index=True)
    node = np.flatnonzero(is_parameter)[first]
    shapes = [parse_shape(record.text(code)) for code in tensors["shape"][parameter].tolist()]
    sizes = {
        "parameters": np.array([math.prod(shape) for shape in shapes], np.int64),
        "parameter_bytes": tensors["bytes"][parameter],
    }
    none = np.bincount(name[node], minlength=count) == 0
    return {
        each: Partial(np.bincount(name[node], size, count).astype(np.int64), none)
        for each, size in sizes.items()
    }


def _dtypes(record: Record, name: npt.NDArray[Any], count: int) -> Values:
    """Return the dtypes of the gradients that nodes pass on or, for leaves, receive."""
    edges = record.grad_edges
    found: list[Any] = [None] * count
    for end in ("source", "target"):
        pairs = np.unique(np.stack([name[edges[end]], edges["dtype"]], axis=1), axis=0)
        texts: dict[int, list[str]] = {}
        for row, code in pairs.tolist():
            texts.setdefault(row, []).append(record.text(code))
        for row, dtypes in texts.items():
            found[row] = found[row] or ", ".join(filter(None, dtypes)) or None
    return found
