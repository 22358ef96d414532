"""The lines of a ladder: straight between neighbours, bows beside what they pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_lab.views.svg.ladder_layout import (
    BOX_HEIGHT_PX,
    BOX_WIDTH_PX,
    FIRST_LANE_PX,
    LANE_PX,
    LANES,
)
from paddle_lab.views.svg.lanes import assign_lanes
from paddle_lab.views.svg.lifting import RowEdge
from paddle_lab.views.svg.palette import Palette
from paddle_lab.views.svg.writer import Span, SvgWriter


class EdgePainter:
    """Paints one column's edges.

    Parameters
    ----------
    svg, colours
        Where and in which colours to paint.
    row_y
        Middle of each row, px.
    left
        Left edge of the column's boxes, px.
    side
        On which side lines bow out: -1 left (and arrows point down), 1 right (and up).
    colour_of
        Colour of a line that carries a gradient or would.
    """

    def __init__(
        self,
        svg: SvgWriter,
        colours: Palette,
        *,
        row_y: Sequence[float],
        left: float,
        side: int,
        colour_of: Callable[[RowEdge], str],
    ) -> None:
        self._svg, self._colours, self._row_y, self._side = svg, colours, row_y, side
        self._middle = left + BOX_WIDTH_PX / 2
        self._outer = left if side < 0 else left + BOX_WIDTH_PX
        self._colour_of = colour_of

    def paint(self, edges: Sequence[RowEdge]) -> None:
        """Paint edges between rows."""
        bows = [edge for edge in edges if abs(edge.target - edge.source) > 1]
        spans = [(min(edge[:2]), max(edge[:2])) for edge in bows]
        for edge, lane in zip(bows, assign_lanes(spans, most=LANES), strict=True):
            self._paint_bow(edge, self._side * (FIRST_LANE_PX + lane * LANE_PX))
        last_shape = ""
        for edge in edges:
            if abs(edge.target - edge.source) != 1:
                continue
            top = self._paint_straight(edge)
            # A shape is written where it changes; gradients have the shape of their values.
            if self._side < 0 and edge.shape != last_shape:
                shape = Span(edge.shape, 10, self._colours.soft).fitted(100)
                self._svg.text(self._middle + 7, top + 12, shape)
                last_shape = edge.shape

    def _paint_straight(self, edge: RowEdge) -> float:
        """Paint a line between neighbours; return where it begins."""
        upper, lower = sorted((self._row_y[edge.source], self._row_y[edge.target]))
        top, bottom = upper + BOX_HEIGHT_PX / 2, lower - BOX_HEIGHT_PX / 2
        style = self._stroke(edge)
        self._svg.path(f"M{self._middle:g} {top:g}V{bottom:g}", **style)
        tip = bottom if self._side < 0 else top
        arrow = f"M{self._middle:g} {tip:g}l-3 {5 * self._side}h6z"
        self._svg.path(arrow, fill=style["stroke"])
        return top

    def _paint_bow(self, edge: RowEdge, away: float) -> None:
        start, end = self._row_y[edge.source], self._row_y[edge.target]
        down = 1 if end > start else -1
        # Lines leave low and arrive high, so that those of one row stay apart.
        start, end = start + 4 * down, end - 4 * down
        turn = min(26.0, abs(end - start) / 2) * down
        x, far = self._outer, self._outer + away
        out = f"C{far:g} {start:g} {far:g} {start:g} {far:g} {start + turn:g}"
        back = f"C{far:g} {end:g} {far:g} {end:g} {x:g} {end:g}"
        style = self._stroke(edge)
        self._svg.path(f"M{x:g} {start:g}{out}V{end - turn:g}{back}", **style)
        self._svg.path(f"M{x:g} {end:g}l{5 * self._side} -3v6z", fill=style["stroke"])

    def _stroke(self, edge: RowEdge) -> dict[str, Any]:
        if edge.is_detach:
            return {"stroke": self._colours.detach, "stroke_width": 1.4, "stroke_dasharray": "4 3"}
        return {"stroke": self._colour_of(edge), "stroke_width": 1.4}
