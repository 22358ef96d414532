"""The ladder: forward on the left going down, the paired grad nodes on the right going up."""

from __future__ import annotations

from typing import Any

from paddle_lab.trace.record import Record
from paddle_lab.views.svg.folding import Folded, Frame
from paddle_lab.views.svg.ladder_edges import EdgePainter
from paddle_lab.views.svg.ladder_layout import (
    BOX_WIDTH_PX,
    INSET_PX,
    MARGIN_PX,
    Columns,
    LadderLayout,
)
from paddle_lab.views.svg.ladder_rows import RowPainter
from paddle_lab.views.svg.lifting import RowEdge, backward_edges, forward_edges
from paddle_lab.views.svg.palette import Palette
from paddle_lab.views.svg.row_content import RowReader
from paddle_lab.views.svg.writer import Span, SvgWriter


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
        self._layout = LadderLayout(folded, top=top)
        self.bottom = self._layout.bottom
        self._reader = RowReader(record, folded)
        self._contents = [self._reader.read(row) for row in range(len(folded.rows))]

    def paint(self) -> None:
        """Paint, back to front."""
        frames = list(zip(self._folded.frames, self._layout.frame_y, strict=True))
        for frame, (top, bottom) in frames:
            self._paint_frame(frame, top, bottom)
        self._paint_rungs()
        self._paint_edges()
        for frame, (top, _) in frames:
            self._paint_title(frame, top)
        forward, backward = self.columns.forward, self.columns.backward
        rows = RowPainter(
            self._svg,
            self._colours,
            has_leaves=forward is None,
            has_backward=backward is not None,
        )
        for content, y in zip(self._contents, self._layout.row_y, strict=True):
            if forward is not None:
                rows.paint_forward(content, forward, y)
            if backward is not None and content.grad_label:
                rows.paint_backward(content, backward, y)

    def _paint_edges(self) -> None:
        row_y, colours = self._layout.row_y, self._colours

        def forward_colour(edge: RowEdge) -> str:
            return colours.of_phase(self._contents[edge.target].phase)

        if self.columns.forward is not None:
            EdgePainter(
                self._svg,
                colours,
                row_y=row_y,
                left=self.columns.forward,
                side=-1,
                colour_of=forward_colour,
            ).paint(forward_edges(self._record, self._folded))
        if self.columns.backward is not None:
            EdgePainter(
                self._svg,
                colours,
                row_y=row_y,
                left=self.columns.backward,
                side=1,
                colour_of=lambda _edge: colours.backward,
            ).paint(backward_edges(self._record, self._folded))

    def _paint_frame(self, frame: Frame, top: float, bottom: float) -> None:
        x = MARGIN_PX + frame.depth * INSET_PX
        width = self.columns.width - 2 * x
        colour = self._colours.nested_frame if frame.depth % 2 else self._colours.frame
        style: dict[str, Any] = {"fill": colour, "stroke": self._colours.line}
        for behind in (6, 3) if len(frame.item.groups) > 1 else ():
            self._svg.rect(x + behind, top + behind, width, bottom - top, radius=8, **style)
        if self._reader.is_region(frame.item):
            style |= {"stroke": self._colours.detach, "stroke_dasharray": "5 4"}
        self._svg.rect(x, top, width, bottom - top, radius=8, **style)

    def _paint_title(self, frame: Frame, top: float) -> None:
        x = MARGIN_PX + frame.depth * INSET_PX + 9
        ground = self._colours.nested_frame if frame.depth % 2 else self._colours.frame
        title, class_name = self._reader.title(frame.item)
        room = self.columns.width - 2 * x
        name = Span(title, 11.5, self._colours.ink, is_bold=True).fitted(room * 0.6)
        kind = Span(class_name, 11, self._colours.soft).fitted(room - name.width_px - 7)
        # Lines that pass behind a title stop short of it.
        halo: dict[str, Any] = {"paint_order": "stroke", "stroke": ground, "stroke_width": 5}
        self._svg.text(x, top + 15, name, kind, stroke_linejoin="round", **halo)

    def _paint_rungs(self) -> None:
        """Paint the pairing: a faint line from each op to its grad nodes."""
        if self.columns.forward is None or self.columns.backward is None:
            return
        ends = f"M{self.columns.forward + BOX_WIDTH_PX:g} {{y:g}}H{self.columns.backward:g}"
        for content, y in zip(self._contents, self._layout.row_y, strict=True):
            if content.grad_label:
                path = ends.format(y=y)
                self._svg.path(path, stroke=self._colours.line, stroke_dasharray="2 4")
