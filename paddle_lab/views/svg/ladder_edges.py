"""The lines of a ladder: straight between neighbouring rows, curved around other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EDGE_KINDS, PHASES, TENSOR_KINDS
from paddle_lab.views.svg.folding import Folded
from paddle_lab.views.svg.ladder_layout import (
    BOX_HEIGHT_PX,
    BOX_WIDTH_PX,
    FIRST_LANE_PX,
    LANE_PX,
    LANES,
)
from paddle_lab.views.svg.writer import Span, SvgWriter

_OPTIMIZER = PHASES.index("optimizer")
_CHIPS = (TENSOR_KINDS.index("parameter"), TENSOR_KINDS.index("buffer"))
_DETACH = EDGE_KINDS.index("detach")


class RowEdge(NamedTuple):
    """Edges from one row to another row. They are drawn as one line."""

    source: int
    target: int
    shape: str
    is_detach: bool


def forward_edges(record: Record, folded: Folded) -> list[RowEdge]:
    """Return the data flow from rows to lower rows, without edges between repetitions."""
    edges = record.op_edges
    row = folded.row_of_op
    source, target = row[edges["source"]], row[edges["target"]]
    # An optimizer reads tensors of all rows. Its edges would hide all other edges.
    is_step = record.ops["phase"] == _OPTIMIZER
    kept = (source >= 0) & (source < target) & ~is_step[edges["target"]] & ~is_step[edges["source"]]
    # Parameters are drawn as chips, even if an op of the trace wrote their values.
    kept &= ~np.isin(record.tensors["kind"][edges["tensor"]], _CHIPS)
    shapes = record.tensors["shape"][edges["tensor"]]
    return _distinct(record, source, target, shapes, edges["kind"] == _DETACH, kept)


def backward_edges(record: Record, folded: Folded) -> list[RowEdge]:
    """Return the flow of gradients from rows to upper rows."""
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
    # Sort edges with gradients first: if one of several edges has a gradient, the line is solid.
    rows = rows[np.argsort(is_detach[rows], kind="stable")]
    pairs = source[rows].astype(np.int64) << 32 | target[rows]
    rows = rows[np.unique(pairs, return_index=True)[1]]
    columns = (column[rows].tolist() for column in (source, target, shape, is_detach))
    return [
        RowEdge(start, end, record.text(code), cut)
        for start, end, code, cut in zip(*columns, strict=True)
    ]


@dataclass(frozen=True)
class EdgePainter:
    """Paints the edges of one column."""

    svg: SvgWriter
    row_y: Sequence[float]
    """Middle of each row, px."""
    left: float
    """Left edge of the column's boxes, px."""
    side: int
    """The side on which lines curve: -1 left (arrows point down), 1 right (arrows point up)."""
    colour_of: Callable[[RowEdge], str]
    """The colour of a line that carries a gradient, or that could carry one."""

    def paint(self, edges: Sequence[RowEdge]) -> None:
        """Paint all edges between rows."""
        bows = [edge for edge in edges if abs(edge.target - edge.source) > 1]
        spans = [(min(edge[:2]), max(edge[:2])) for edge in bows]
        for edge, lane in zip(bows, assign_lanes(spans, most=LANES), strict=True):
            self._paint_bow(edge, self.side * (FIRST_LANE_PX + lane * LANE_PX))
        last_shape = ""
        for edge in edges:
            if abs(edge.target - edge.source) != 1:
                continue
            # Write a shape only if it changed. A gradient has the shape of its tensor.
            is_told = self.side < 0 and edge.shape != last_shape
            self._paint_straight(edge, edge.shape if is_told else "")
            last_shape = edge.shape

    def _paint_straight(self, edge: RowEdge, shape: str) -> None:
        """Paint a line between neighbouring rows, and a shape next to it."""
        upper, lower = sorted((self.row_y[edge.source], self.row_y[edge.target]))
        top, bottom = upper + BOX_HEIGHT_PX / 2, lower - BOX_HEIGHT_PX / 2
        x, tip = self.left + BOX_WIDTH_PX / 2, bottom if self.side < 0 else top
        style = self._stroke(edge)
        self.svg.path(f"M{x:g} {top:g}V{bottom:g}", **style)
        self.svg.path(f"M{x:g} {tip:g}l-3 {5 * self.side}h6z", fill=style["stroke"])
        if shape:
            self.svg.text(x + 7, top + 12, Span(shape, 10, self.svg.colours.soft).fitted(100))

    def _paint_bow(self, edge: RowEdge, away: float) -> None:
        start, end = self.row_y[edge.source], self.row_y[edge.target]
        down = 1 if end > start else -1
        # Lines begin and end 4 px from the middle of a row, so that the lines of a row stay apart.
        start, end = start + 4 * down, end - 4 * down
        turn = min(26.0, abs(end - start) / 2) * down
        x = self.left if self.side < 0 else self.left + BOX_WIDTH_PX
        far = x + away
        out = f"C{far:g} {start:g} {far:g} {start:g} {far:g} {start + turn:g}"
        back = f"C{far:g} {end:g} {far:g} {end:g} {x:g} {end:g}"
        style = self._stroke(edge)
        self.svg.path(f"M{x:g} {start:g}{out}V{end - turn:g}{back}", **style)
        self.svg.path(f"M{x:g} {end:g}l{5 * self.side} -3v6z", fill=style["stroke"])

    def _stroke(self, edge: RowEdge) -> dict[str, Any]:
        if edge.is_detach:
            colour = self.svg.colours.detach
            return {"stroke": colour, "stroke_width": 1.4, "stroke_dasharray": "4 3"}
        return {"stroke": self.colour_of(edge), "stroke_width": 1.4}


def assign_lanes(spans: Sequence[tuple[int, int]], *, most: int) -> list[int]:
    """Return a lane for each line that passes rows, from 0 (nearest). Shorter lines are nearer.

    Parameters
    ----------
    spans
        The first and the last row of each line. Lines that start at the same row, or end at the
        same row, may share a lane, because they look like a line that branches.
    most
        The number of lanes. Lines without a free lane use the last one.
    """
    lanes: list[list[tuple[int, int]]] = [[] for _ in range(most)]
    answer = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: (spans[i][1] - spans[i][0], spans[i])):
        first, last = spans[i]
        for lane, taken in enumerate(lanes):
            is_last = lane == most - 1
            if is_last or not any(a < last and first < b for a, b in taken):
                taken.append((first, last))
                answer[i] = lane
                break
    return answer
