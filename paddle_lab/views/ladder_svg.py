"""The ladder: forward on the left going down, the paired grad nodes on the right going up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddle_lab.trace.record import Record
from paddle_lab.views.folding import Folded, Frame
from paddle_lab.views.lanes import assign_lanes
from paddle_lab.views.lifting import RowEdge, backward_edges, forward_edges
from paddle_lab.views.palette import Palette
from paddle_lab.views.row_content import RowContent, RowReader
from paddle_lab.views.svg_writer import Span, SvgWriter
from paddle_lab.views.text import number

_BOX_WIDTH_PX, _BOX_HEIGHT_PX, _GAP_PX = 216.0, 26.0, 18.0
_FRAME_TITLE_PX, _FRAME_END_PX = 22.0, 10.0
_LANES, _LANE_PX, _FIRST_LANE_PX = 7, 10.0, 16.0
_MARGIN_PX, _INSET_PX, _CHIPS_PX = 14.0, 7.0, 150.0
_ARC_PX = _FIRST_LANE_PX + _LANES * _LANE_PX


@dataclass(frozen=True)
class Columns:
    """Left edges of what stands side by side, in px; NaN-free: an absent column is None."""

    forward: float | None
    backward: float | None
    width: float
    inset: float

    @classmethod
    def of(cls, view: str, deepest: int) -> Columns:
        """Return the columns of a view whose frames are nested ``deepest`` deep."""
        inset = _INSET_PX * deepest
        left = _MARGIN_PX + inset + _ARC_PX
        right = _ARC_PX + inset + _MARGIN_PX
        if view == "ladder":
            backward = left + _BOX_WIDTH_PX + _CHIPS_PX
            return cls(left, backward, backward + _BOX_WIDTH_PX + right, inset)
        width = left + _BOX_WIDTH_PX + _CHIPS_PX + inset + _MARGIN_PX
        if view == "forward":
            return cls(left, None, width, inset)
        return cls(None, _MARGIN_PX + inset + _CHIPS_PX, width, inset)


class LadderPainter:
    """Paints rows, frames and edges below ``top``.

    Parameters
    ----------
    svg
        Where to paint.
    record
        A record with answer tables.
    folded
        What to paint.
    view
        ``"ladder"``, ``"forward"`` or ``"backward"``.
    palette
        Colours.
    top
        Where the picture's rows begin, px.
    """

    def __init__(
        self,
        svg: SvgWriter,
        record: Record,
        folded: Folded,
        *,
        view: str,
        palette: Palette,
        top: float,
    ) -> None:
        self._svg, self._record, self._folded, self._colours = svg, record, folded, palette
        deepest = max((frame.depth + 1 for frame in folded.frames), default=0)
        self.columns = Columns.of(view, deepest)
        self._reader = RowReader(record, folded)
        self._contents = [self._reader.read(row) for row in range(len(folded.rows))]
        self._row_y: list[float] = []
        self._frame_y: list[tuple[float, float]] = [(0.0, 0.0)] * len(folded.frames)
        self.bottom = self._arrange(top)

    def paint(self) -> None:
        """Paint, back to front."""
        for i, frame in enumerate(self._folded.frames):
            self._paint_frame(frame, *self._frame_y[i])
        if self.columns.forward is not None and self.columns.backward is not None:
            self._paint_rungs(self.columns.forward + _BOX_WIDTH_PX, self.columns.backward)
        if self.columns.forward is not None:
            self._paint_edges(forward_edges(self._record, self._folded), self.columns.forward, -1)
        if self.columns.backward is not None:
            edges = backward_edges(self._record, self._folded)
            self._paint_edges(edges, self.columns.backward, 1)
        for i, frame in enumerate(self._folded.frames):
            self._paint_title(frame, self._frame_y[i][0])
        for row, content in enumerate(self._contents):
            if self.columns.forward is not None:
                self._paint_forward(content, self.columns.forward, self._row_y[row])
            if self.columns.backward is not None and content.grad_label:
                self._paint_backward(content, self.columns.backward, self._row_y[row])

    def _arrange(self, top: float) -> float:
        """Give every row and frame its place; return where the last one ends."""
        y = top
        opening: dict[int, list[int]] = {}
        closing: dict[int, list[int]] = {}
        for i, frame in enumerate(self._folded.frames):
            opening.setdefault(frame.first, []).append(i)
            closing.setdefault(frame.last, []).append(i)
        for row in range(len(self._folded.rows)):
            for i in opening.get(row, ()):
                self._frame_y[i] = (y, 0.0)
                y += _FRAME_TITLE_PX
            self._row_y.append(y + _BOX_HEIGHT_PX / 2)
            y += _BOX_HEIGHT_PX
            for i in reversed(closing.get(row, ())):
                y += _FRAME_END_PX
                self._frame_y[i] = (self._frame_y[i][0], y)
            y += _GAP_PX
        return y - _GAP_PX if self._folded.rows else y

    def _paint_frame(self, frame: Frame, top: float, bottom: float) -> None:
        x = _MARGIN_PX + frame.depth * _INSET_PX
        width = self.columns.width - 2 * x
        colour = self._colours.nested_frame if frame.depth % 2 else self._colours.frame
        style: dict[str, Any] = {"fill": colour, "stroke": self._colours.line}
        for behind in (6, 3) if len(frame.item.groups) > 1 else ():
            self._svg.rect(x + behind, top + behind, width, bottom - top, radius=8, **style)
        self._svg.rect(x, top, width, bottom - top, radius=8, **style)

    def _paint_title(self, frame: Frame, top: float) -> None:
        x = _MARGIN_PX + frame.depth * _INSET_PX + 9
        ground = self._colours.nested_frame if frame.depth % 2 else self._colours.frame
        title, class_name = self._reader.title(frame.item)
        room = self.columns.width - 2 * x
        name = Span(title, 11.5, self._colours.ink, is_bold=True).fitted(room * 0.6)
        kind = Span(class_name, 11, self._colours.soft).fitted(room - name.width_px - 7)
        # Lines that pass behind a title stop short of it.
        halo: dict[str, Any] = {"paint_order": "stroke", "stroke": ground, "stroke_width": 5}
        self._svg.text(x, top + 15, name, kind, stroke_linejoin="round", **halo)

    def _paint_rungs(self, left: float, right: float) -> None:
        for content, y in zip(self._contents, self._row_y, strict=True):
            if content.grad_label:
                self._svg.path(
                    f"M{left:g} {y:g}H{right:g}", stroke=self._colours.line, stroke_dasharray="2 4"
                )

    def _paint_edges(self, edges: list[RowEdge], left: float, side: int) -> None:
        """Paint straight lines between neighbours, and bows beside what they pass."""
        colour = self._colours.forward if side < 0 else self._colours.backward
        middle, edge_x = left + _BOX_WIDTH_PX / 2, left if side < 0 else left + _BOX_WIDTH_PX
        bows = [edge for edge in edges if abs(edge.target - edge.source) > 1]
        spans = [(min(edge[:2]), max(edge[:2])) for edge in bows]
        for edge, lane in zip(bows, assign_lanes(spans, most=_LANES), strict=True):
            away = side * (_FIRST_LANE_PX + lane * _LANE_PX)
            self._paint_bow(edge, edge_x, away, self._stroke(edge, colour))
        last_shape = ""
        for edge in edges:
            if abs(edge.target - edge.source) != 1:
                continue
            upper, lower = sorted((self._row_y[edge.source], self._row_y[edge.target]))
            start, end = upper + _BOX_HEIGHT_PX / 2, lower - _BOX_HEIGHT_PX / 2
            self._svg.path(f"M{middle:g} {start:g}V{end:g}", **self._stroke(edge, colour))
            self._paint_arrow(middle, end if side < 0 else start, -side, edge, colour)
            if side < 0 and edge.shape != last_shape:
                self._paint_shape(middle + 7, start + 12, edge.shape)
                last_shape = edge.shape

    def _paint_shape(self, x: float, y: float, shape: str) -> None:
        self._svg.text(x, y, Span(shape, 10, self._colours.soft).fitted(100))

    def _stroke(self, edge: RowEdge, colour: str) -> dict[str, Any]:
        if edge.is_detach:
            return {"stroke": self._colours.detach, "stroke_width": 1.4, "stroke_dasharray": "4 3"}
        return {"stroke": colour, "stroke_width": 1.4}

    def _paint_bow(self, edge: RowEdge, x: float, away: float, style: dict[str, Any]) -> None:
        start, end = self._row_y[edge.source], self._row_y[edge.target]
        down = 1 if end > start else -1
        # Lines leave low and arrive high, so that those of one row stay apart.
        start, end = start + 4 * down, end - 4 * down
        turn = min(26.0, abs(end - start) / 2) * down
        far = x + away
        out = f"C{far:g} {start:g} {far:g} {start:g} {far:g} {start + turn:g}"
        back = f"C{far:g} {end:g} {far:g} {end:g} {x:g} {end:g}"
        self._svg.path(f"M{x:g} {start:g}{out}V{end - turn:g}{back}", **style)
        tip = 1 if away > 0 else -1
        fill = style["stroke"]
        self._svg.path(f"M{x:g} {end:g}l{5 * tip} -3v6z", fill=fill)

    def _paint_arrow(self, x: float, y: float, down: int, edge: RowEdge, colour: str) -> None:
        fill = self._colours.detach if edge.is_detach else colour
        self._svg.path(f"M{x:g} {y:g}l-3 {-5 * down}h6z", fill=fill)

    def _paint_forward(self, content: RowContent, x: float, y: float) -> None:
        colours = self._colours
        colour = {"backward": colours.backward, "optimizer": colours.optimizer}.get(
            content.phase, colours.forward
        )
        colour = colours.warn if content.raised or content.in_place else colour
        self._paint_box(content, x, y, colour, content.label, content.detail)
        mark = "✕ raised" if content.raised else "in place" if content.in_place else ""
        chip_x = x + _BOX_WIDTH_PX + 8
        if mark:
            span = Span(mark, 10.5, colours.warn)
            self._svg.text(chip_x, y + 4, span)
            chip_x += span.width_px + 10
        room = x + _BOX_WIDTH_PX + _CHIPS_PX - 10 - chip_x
        self._paint_chips(content, chip_x, y, room)

    def _paint_backward(self, content: RowContent, x: float, y: float) -> None:
        self._paint_box(content, x, y, self._colours.backward, content.grad_label, "")
        if self.columns.forward is None and content.leaf_count:
            word = "leaf" if content.leaf_count == 1 else "leaves"
            chip = Span(f"{content.leaf_count:,} {word}", 10, self._colours.leaf)
            self._paint_chip(x - 8 - chip.width_px - 12, y, chip)

    def _paint_box(
        self, content: RowContent, x: float, y: float, colour: str, label: str, detail: str
    ) -> None:
        colours = self._colours
        top, width, height = y - _BOX_HEIGHT_PX / 2, _BOX_WIDTH_PX, _BOX_HEIGHT_PX
        style: dict[str, Any] = {"fill": colours.ground, "stroke": colour, "stroke_width": 1.3}
        if content.is_gap:
            self._svg.rect(x, top, width, height, stroke_dasharray="5 4", **style)
        else:
            if content.repeats > 1:
                self._svg.rect(x + 5, top + 4, width, height, **style)
                self._svg.rect(x + 2.5, top + 2, width, height, **style)
            self._svg.rect(x, top, width, height, **style)
            if content.is_pylayer:
                self._svg.rect(
                    x + 3, top + 3, width - 6, height - 6, radius=4, fill="none", stroke=colour
                )
        name = Span(label, 12, colours.ink, is_bold=content.is_group)
        extra = Span(detail, 10.5, colours.soft)
        room = width - 22
        name = name.fitted(max(room * 0.55, room - 7 - extra.width_px) if detail else room)
        room -= name.width_px + 7
        extra = extra.fitted(room if room > 24 else 0)
        full = f"{label} {detail}".strip()
        self._svg.text(x + width / 2, y + 4, name, extra, tooltip=full, text_anchor="middle")

    def _paint_chips(self, content: RowContent, x: float, y: float, room: float) -> None:
        leaf, soft = self._colours.leaf, self._colours.soft
        if content.is_group or content.is_gap:
            text = number(len(content.parameters), "parameter")
            chips = [Span(text, 10, leaf)] if content.parameters else []
        else:
            chips = [Span(name, 10, leaf) for name in content.parameters]
            chips += [Span(name, 10, soft) for name in (*content.buffers, *content.data)]
        for i, chip in enumerate(chips):
            fitted = chip.fitted(92)
            needed = fitted.width_px + 12 + (24 if i + 1 < len(chips) else 0)
            if needed > room:
                self._svg.text(x, y + 4, Span(f"+{len(chips) - i}", 10, soft))
                return
            self._paint_chip(x, y, fitted)
            x, room = x + fitted.width_px + 16, room - fitted.width_px - 16

    def _paint_chip(self, x: float, y: float, chip: Span) -> None:
        width = chip.width_px + 12
        style: dict[str, Any] = {
            "fill": self._colours.chip,
            "stroke": chip.colour,
            "stroke_width": 0.8,
        }
        self._svg.rect(x, y - 8, width, 16, radius=8, **style)
        self._svg.text(x + width / 2, y + 3.5, chip, text_anchor="middle")
