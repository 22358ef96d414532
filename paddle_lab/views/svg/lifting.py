"""Edges between ops or between grad nodes, merged into edges between the rows of a picture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EDGE_KINDS, PHASES, TENSOR_KINDS
from paddle_lab.views.svg.folding import Folded

_OPTIMIZER = PHASES.index("optimizer")
_CHIPS = (TENSOR_KINDS.index("parameter"), TENSOR_KINDS.index("buffer"))
_DETACH = EDGE_KINDS.index("detach")


class RowEdge(NamedTuple):
    """Edges from one row to another, drawn as one."""

    source: int
    target: int
    shape: str
    is_detach: bool


def forward_edges(record: Record, folded: Folded) -> list[RowEdge]:
    """Return the data flow down between rows, without edges from one repetition to the next."""
    edges = record.op_edges
    row = folded.row_of_op
    source, target = row[edges["source"]], row[edges["target"]]
    # The optimizer reads tensors of every row; its edges would hide all others.
    is_step = record.ops["phase"] == _OPTIMIZER
    kept = (source >= 0) & (source < target) & ~is_step[edges["target"]] & ~is_step[edges["source"]]
    # Parameters are chips, even if an op of the trace filled them.
    kept &= ~np.isin(record.tensors["kind"][edges["tensor"]], _CHIPS)
    shapes = record.tensors["shape"][edges["tensor"]]
    return _distinct(record, source, target, shapes, edges["kind"] == _DETACH, kept)


def backward_edges(record: Record, folded: Folded) -> list[RowEdge]:
    """Return the flow of gradients between rows, upwards."""
    edges = record.grad_edges
    row = np.append(folded.row_of_op, -1)
    op = np.append(record.grad_nodes["op"], -1)
    source, target = row[op[edges["source"]]], row[op[edges["target"]]]
    kept = (target >= 0) & (source > target)
    return _distinct(record, source, target, edges["shape"], np.zeros(len(source), bool), kept)


def _distinct(
    record: Record,
    source: npt.NDArray[np.int32],
    target: npt.NDArray[np.int32],
    shape: npt.NDArray[np.int32],
    is_detach: npt.NDArray[np.bool_],
    kept: npt.NDArray[np.bool_],
) -> list[RowEdge]:
    rows = np.flatnonzero(kept)
    # If one of several values carries a gradient, the line is solid: that edge is put first.
    rows = rows[np.argsort(is_detach[rows], kind="stable")]
    pairs = source[rows].astype(np.int64) << 32 | target[rows]
    rows = rows[np.unique(pairs, return_index=True)[1]]
    columns = (column[rows].tolist() for column in (source, target, shape, is_detach))
    return [
        RowEdge(start, end, record.text(code), cut)
        for start, end, code, cut in zip(*columns, strict=True)
    ]
