"""How large gradients are over depth: where they vanish or explode.

A point is one call of a layer that has gradients of its own, or one op outside of layers. What
flows on is what the point hands to ops before it; several gradients are taken together as one long
vector. The front end draws the same points (``js/src/model/graph/gradient_depth.ts``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from paddle_lab.analysis.tables.op_table import innermost_scopes
from paddle_lab.analysis.tables.pandas_frame import pandas_module
from paddle_lab.analysis.tables.text_table import html_table, text_table
from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.record import Record
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas

_COLUMNS = ("layer", "class", "flows_on", "per_value", "parameters", "per_value")
_LEAF = "GradNodeAccumulation"


@dataclass(frozen=True)
class Amount:
    """Several gradients taken together."""

    norm: float
    elements: int

    @property
    def rms(self) -> float:
        """Root mean square of the values: the norm, whatever the size."""
        return self.norm / math.sqrt(self.elements) if self.elements else 0.0


@dataclass(frozen=True)
class DepthPoint:
    """One layer's call, or one op outside of layers."""

    label: str
    """The layer's path, or the op's name."""
    layer_class: str
    """``""`` for an op."""
    first_op: int
    """Key of its first op that has a grad node."""
    flowing: Amount | None
    """What it hands on to ops before it; None where it was not recorded."""
    parameters: Amount | None
    """The gradients of its parameters and other leaves; None where it has none."""


@dataclass
class _Gathered:
    first_op: int
    out: list[int] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)


class GradientCurve(Sequence[DepthPoint]):
    """The points of one backward call, in the order of the forward."""

    def __init__(self, points: Sequence[DepthPoint]) -> None:
        self._points = list(points)

    @classmethod
    def of(cls, record: Record, call: int) -> GradientCurve:
        """Return the curve of one backward call; the record has answer tables."""
        return cls([_point(record, *gathered) for gathered in _gather(record, call)])

    def __len__(self) -> int:
        return len(self._points)

    @overload
    def __getitem__(self, index: int) -> DepthPoint: ...
    @overload
    def __getitem__(self, index: slice) -> GradientCurve: ...
    def __getitem__(self, index: int | slice) -> DepthPoint | GradientCurve:
        if isinstance(index, slice):
            return GradientCurve(self._points[index])
        return self._points[index]

    def __iter__(self) -> Iterator[DepthPoint]:
        return iter(self._points)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row a layer, in the order of the forward.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = pandas_module("curve().to_pandas()")
        rows = [
            {
                "layer": point.label,
                "layer_class": point.layer_class,
                "op": point.first_op,
                "norm": point.flowing.norm if point.flowing else math.nan,
                "rms": point.flowing.rms if point.flowing else math.nan,
                "parameter_norm": point.parameters.norm if point.parameters else math.nan,
                "parameter_rms": point.parameters.rms if point.parameters else math.nan,
            }
            for point in self
        ]
        return pandas.DataFrame(rows)

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            (point.label, point.layer_class, *_said(point.flowing), *_said(point.parameters))
            for point in self
        ]

    def __repr__(self) -> str:
        return text_table(_header(), self._lines(), numbers=(2, 3, 4, 5))

    def _repr_html_(self) -> str:
        return html_table(_header(), self._lines(), numbers=(2, 3, 4, 5))


def _said(amount: Amount | None) -> tuple[str, str]:
    return ("", "") if amount is None else (f"{amount.norm:.3g}", f"{amount.rms:.3g}")


def _gather(record: Record, call: int) -> list[tuple[int, _Gathered, list[Amount | None]]]:
    """Return owner (layer scope or -1), edges and amounts of each point, by first op."""
    stats = record.grad_stats
    is_wanted = (stats["backward_call"] == call) & (stats["grad_edge"] >= 0)
    rows = np.flatnonzero(is_wanted)
    norms, elements = from_bits(stats["norm"]).astype(np.float64), stats["elements"]
    scopes = np.append(innermost_scopes(record, "layer"), -1)
    ops, edges = record.grad_nodes["op"], record.grad_edges
    is_leaf = np.array([record.text(int(name)) == _LEAF for name in record.grad_nodes["name"]])

    def owner(node: int) -> tuple[int, int] | None:
        op = int(ops[node])
        scope = int(scopes[op])
        return None if op < 0 else (scope, -1 if scope >= 0 else op)

    gathered: dict[tuple[int, int], _Gathered] = {}
    for row in rows.tolist():
        edge = int(stats["grad_edge"][row])
        source, target = int(edges["source"][edge]), int(edges["target"][edge])
        own = owner(source)
        if own is None:
            continue
        point = gathered.setdefault(own, _Gathered(int(ops[source])))
        point.first_op = min(point.first_op, int(ops[source]))
        if is_leaf[target]:
            point.leaves.append(row)
        elif owner(target) != own:
            point.out.append(row)

    def amount(chosen: list[int]) -> Amount | None:
        if not chosen:
            return None
        return Amount(float(np.linalg.norm(norms[chosen])), int(elements[chosen].sum()))

    ordered = sorted(gathered.items(), key=lambda item: item[1].first_op)
    return [
        (own[0], point, [amount(point.out), amount(point.leaves)])
        for own, point in ordered
        if point.out or point.leaves
    ]


def _point(
    record: Record, scope: int, gathered: _Gathered, amounts: list[Amount | None]
) -> DepthPoint:
    layer = int(record.scopes["layer"][scope]) if scope >= 0 else -1
    if layer >= 0:
        label = record.text(int(record.layers["path"][layer]))
        layer_class = record.text(int(record.layers["class"][layer]))
    else:
        label, layer_class = record.text(int(record.ops["name"][gathered.first_op])), ""
    return DepthPoint(label, layer_class, gathered.first_op, *amounts)


def _header() -> list[str]:
    return [say(f"reports.column.{name}") for name in _COLUMNS]
