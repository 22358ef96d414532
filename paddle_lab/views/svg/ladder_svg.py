"""Paints the ladder: the forward on the left going down, grad nodes on the right going up."""

from __future__ import annotations

from typing import Any

from paddle_lab.trace.record import Record
from paddle_lab.views.svg.folding import Folded, Frame
from paddle_lab.views.svg.ladder_edges import EdgePainter, backward_edges, forward_edges
from paddle_lab.views.svg.ladder_layout import BOX_WIDTH_PX, INSET_PX, MARGIN_PX, LadderLayout
from paddle_lab.views.svg.ladder_rows import RowPainter
from paddle_lab.views.svg.row_content import RowReader
from paddle_lab.views.svg.writer import Span, SvgWriter


def paint_ladder(svg: SvgWriter, record: Record, folded: Folded, layout: LadderLayout) -> None:
    """Paint rows, frames and edges, those at the back first.

    Parameters
    ----------
    svg
        The picture to which the elements are added.
    record
        A record with answer tables.
    folded
        The rows and frames to paint.
    layout
        The positions of rows and frames.
    """
    colours, row_y, forward, backward = svg.colours, layout.row_y, layout.forward, layout.backward
    reader = RowReader(record, folded)
    contents = [reader.read(row) for row in range(len(folded.rows))]
    frames = list(zip(folded.frames, layout.frame_y, strict=True))
    for frame, (top, bottom) in frames:
        is_region = reader.is_region(frame.item)
        _paint_frame(svg, frame, top, bottom, layout.width, is_region=is_region)
    if forward is not None and backward is not None:
        # A faint line leads from each op to its grad nodes.
        for content, y in zip(contents, row_y, strict=True):
            if content.grad_label:
                path = f"M{forward + BOX_WIDTH_PX:g} {y:g}H{backward:g}"
                svg.path(path, stroke=colours.line, stroke_dasharray="2 4")
    if forward is not None:
        edges = EdgePainter(
            svg, row_y, forward, -1, lambda edge: colours.of_phase(contents[edge.target].phase)
        )
        edges.paint(forward_edges(record, folded))
    if backward is not None:
        edges = EdgePainter(svg, row_y, backward, 1, lambda _edge: colours.backward)
        edges.paint(backward_edges(record, folded))
    for frame, (top, _) in frames:
        _paint_title(svg, frame, top, layout.width, reader.title(frame.item))
    rows = RowPainter(svg, layout)
    for content, y in zip(contents, row_y, strict=True):
        rows.paint(content, y)


def _paint_frame(
    svg: SvgWriter, frame: Frame, top: float, bottom: float, width: float, *, is_region: bool
) -> None:
    x = MARGIN_PX + frame.depth * INSET_PX
    size = width - 2 * x, bottom - top
    style: dict[str, Any] = {"fill": _ground(svg, frame), "stroke": svg.colours.line}
    for behind in (6, 3) if len(frame.item.groups) > 1 else ():
        svg.rect(x + behind, top + behind, *size, radius=8, **style)
    if is_region:
        style |= {"stroke": svg.colours.detach, "stroke_dasharray": "5 4"}
    svg.rect(x, top, *size, radius=8, **style)


def _paint_title(
    svg: SvgWriter, frame: Frame, top: float, width: float, title: tuple[str, str]
) -> None:
    x = MARGIN_PX + frame.depth * INSET_PX + 9
    room = width - 2 * x
    name = Span(title[0], 11.5, svg.colours.ink, is_bold=True).fitted(room * 0.6)
    kind = Span(title[1], 11, svg.colours.soft).fitted(room - name.width_px - 7)
    # The halo separates the letters of a title from lines behind them.
    halo: dict[str, Any] = {
        "paint_order": "stroke",
        "stroke": _ground(svg, frame),
        "stroke_width": 5,
    }
    svg.text(x, top + 15, name, kind, stroke_linejoin="round", **halo)


def _ground(svg: SvgWriter, frame: Frame) -> str:
    return svg.colours.nested_frame if frame.depth % 2 else svg.colours.frame
