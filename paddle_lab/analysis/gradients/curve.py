"""The size of gradients over depth, which shows where they vanish or explode.

A point is one call of a layer that has grad nodes of its own, or one op outside of layers. The
*flowing* gradients of a point are those that it passes to earlier points. Several gradients are
combined like one long vector. The front end computes the same points
(``js/src/model/gradients/gradient_depth.ts``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.scopes import innermost_scopes
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import Framed
from paddle_lab.analysis.tables.rows import RowList
from paddle_lab.analysis.tables.text_table import Report, Reported, header
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.grad_node_order import LEAF_NAME
from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import csr


@dataclass(frozen=True)
class Amount:
    """The size of several gradients, combined like one long vector."""

    norm: float
    elements: int

    @property
    def rms(self) -> float:
        """The root mean square: the norm divided by the square root of the number of values."""
        return self.norm / math.sqrt(self.elements) if self.elements else 0.0


@dataclass(frozen=True)
class DepthPoint:
    """One layer's call, or one op outside of layers."""

    label: str
    """The layer's path, or the op's name."""
    layer_class: str
    """``""`` for an op."""
    first_op: int
    """The key of the layer call's first op that has a grad node."""
    flowing: Amount | None
    """The gradients passed on to earlier ops; None if they were not recorded."""
    parameters: Amount | None
    """The gradients of parameters and other leaves; None if there are none."""


class GradientCurve(Reported, Framed, RowList[DepthPoint]):
    """The points of one backward call, in forward order."""

    @classmethod
    def of(cls, record: Record, call: int) -> GradientCurve:
        """Return the curve of one backward call of a record with answer tables."""
        return cls(_points(record, call))

    @overload
    def __getitem__(self, index: int) -> DepthPoint: ...
    @overload
    def __getitem__(self, index: slice) -> GradientCurve: ...
    def __getitem__(self, index: int | slice) -> DepthPoint | GradientCurve:
        found = super().__getitem__(index)
        return found if isinstance(found, DepthPoint) else GradientCurve(found)

    def _columns(self) -> dict[str, Values]:
        flowing = [point.flowing for point in self]
        parameters = [point.parameters for point in self]
        return {
            "layer": [point.label for point in self],
            "layer_class": [point.layer_class for point in self],
            "op": [point.first_op for point in self],
            "norm": [amount and amount.norm for amount in flowing],
            "rms": [amount and amount.rms for amount in flowing],
            "parameter_norm": [amount and amount.norm for amount in parameters],
            "parameter_rms": [amount and amount.rms for amount in parameters],
        }

    def _report(self) -> Report:
        names = header(
            "reports", "layer", "class", "flows_on", "per_value", "parameters", "per_value"
        )
        rows = [
            (point.label, point.layer_class, *_said(point.flowing), *_said(point.parameters))
            for point in self
        ]
        return Report("", names, rows, numbers=(2, 3, 4, 5))


def _said(amount: Amount | None) -> tuple[str, str]:
    return ("", "") if amount is None else (f"{amount.norm:.3g}", f"{amount.rms:.3g}")


def _points(record: Record, call: int) -> list[DepthPoint]:
    """Return the points of a backward call, in the order of their first op."""
    stats, edges, op = record.grad_stats, record.grad_edges, record.grad_nodes["op"]
    rows = np.flatnonzero((stats["backward_call"] == call) & (stats["grad_edge"] >= 0))
    source, target = (edges[end][stats["grad_edge"][rows]] for end in ("source", "target"))
    # The point of a grad node is its layer call, or else its op; -1 if it has neither.
    scope = np.append(innermost_scopes(record, "layer"), -1)[op]
    point = np.where(scope >= 0, scope, np.where(op >= 0, len(record.scopes) + op, -1))
    names = np.array(record.strings, object)[record.grad_nodes["name"]]
    is_leaf = (names == LEAF_NAME).astype(bool)
    starts, order = csr(point[source], len(record.scopes) + len(record.ops))
    labels, classes = record.ops["name"], record.layers["class"]
    path = record.layer_names["name"]
    points = []
    for own in np.unique(point[source][order]).tolist():
        of_point = order[starts[own] : starts[own + 1]]
        leaves = is_leaf[target[of_point]]
        flows = ~leaves & (point[target[of_point]] != own)
        if leaves.any() or flows.any():
            first = int(op[source[of_point]].min())
            layer = int(record.scopes["layer"][own]) if own < len(record.scopes) else -1
            points.append(
                DepthPoint(
                    record.text(int(labels[first])) if layer < 0 else record.text(int(path[layer])),
                    "" if layer < 0 else record.text(int(classes[layer])),
                    first,
                    _amount(record, rows[of_point[flows]]),
                    _amount(record, rows[of_point[leaves]]),
                )
            )
    return sorted(points, key=lambda point: point.first_op)


def _amount(record: Record, rows: npt.NDArray[Any]) -> Amount | None:
    """Combine some rows of ``grad_stats`` into one amount, None for no rows."""
    if not len(rows):
        return None
    norms = from_bits(record.grad_stats["norm"][rows]).astype(np.float64)
    return Amount(float(np.linalg.norm(norms)), int(record.grad_stats["elements"][rows].sum()))
