"""A static picture of a trace: an SVG without scripts that needs no network and no kernel."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from paddle_lab.trace.record import Record
from paddle_lab.views.svg.folding import Folded, fold, keep_rows
from paddle_lab.views.svg.ladder_layout import ladder_layout
from paddle_lab.views.svg.ladder_svg import paint_ladder
from paddle_lab.views.svg.palette import PALETTES, Palette
from paddle_lab.views.svg.writer import Span, SvgWriter
from paddle_lab.views.text.finding_text import finding_texts
from paddle_lab.views.text.summary import counts, failures, full_title, shown_title
from paddle_lab.words import say

View = Literal["ladder", "forward", "backward"]
_HEADER_PX = 66.0
_BANNER_PX = 28.0


def svg_picture(
    record: Record,
    *,
    view: str = "ladder",
    theme: str = "light",
    depth: int | None = None,
    folded: Folded | None = None,
) -> str:
    """Return the picture as SVG text.

    Parameters
    ----------
    record
        A record with answer tables.
    view
        ``"ladder"``, ``"forward"`` or ``"backward"``.
    theme
        ``"light"`` or ``"dark"``.
    depth
        How many levels of groups to open; by default as many as fit into 60 rows.
    folded
        The rows to draw; by default they are chosen here.

    Raises
    ------
    ValueError
        If there is no such view or theme, or ``depth`` is negative.
    """
    if view not in get_args(View):
        raise ValueError(say("errors.no_view", view=repr(view)))
    if theme not in PALETTES:
        raise ValueError(say("errors.no_theme", theme=repr(theme)))
    if depth is not None and depth < 0:
        raise ValueError(say("errors.depth", depth=depth))
    palette = PALETTES[theme]
    folded = folded or fold(record, depth=depth)
    if view == "backward":
        _keep_rows_with_grad_nodes(record, folded)
    problems = _problems(record, palette)
    top = _HEADER_PX + _BANNER_PX * len(problems)
    svg = SvgWriter(palette)
    layout = ladder_layout(folded, view=view, top=top)
    _paint_header(svg, record, layout.width, problems)
    for x, caption in ((layout.forward, "forward"), (layout.backward, "backward")):
        if x is not None and folded.rows:
            text = Span(say(f"page.ladder.{caption}"), 11, palette.soft)
            svg.text(x + 2, top - 9, text)
    paint_ladder(svg, record, folded, layout)
    note = Span(_note(record, folded, view), 11, palette.soft).fitted(layout.width - 28)
    svg.text(14, layout.bottom + 30, note)
    return svg.document(math.ceil(layout.width), layout.bottom + 44, title=full_title(record))


def _keep_rows_with_grad_nodes(record: Record, folded: Folded) -> None:
    is_shown = folded.row_of_op[record.grad_nodes["op"][record.grad_nodes["op"] >= 0]]
    has_node = np.zeros(len(folded.rows), bool)
    has_node[is_shown[is_shown >= 0]] = True
    keep_rows(folded, has_node)


def _paint_header(
    svg: SvgWriter, record: Record, width: float, problems: list[tuple[str, str]]
) -> None:
    palette = svg.colours
    title = Span(shown_title(record), 14, palette.ink, is_bold=True).fitted(width * 0.5)
    size = Span(counts(record), 12, palette.soft).fitted(width - title.width_px - 40)
    svg.text(14, 25, title, size)
    svg.path(f"M0 38.5H{width:g}", stroke=palette.line)
    for i, (problem, colour) in enumerate(problems):
        y = 39 + _BANNER_PX * i
        svg.rect(0, y, 4, _BANNER_PX, radius=0, fill=colour)
        svg.text(16, y + 18, Span(problem, 12, colour).fitted(width - 34), tooltip=problem)
        svg.path(f"M0 {y + _BANNER_PX:g}H{width:g}", stroke=palette.line)


def _problems(record: Record, palette: Palette) -> list[tuple[str, str]]:
    """Return sentences and their colours: the worst finding, and failures without a finding."""
    findings = finding_texts(record)
    problems = [(sentence, palette.warn) for sentence in failures(record)]
    if not findings:
        return problems
    worst, message = findings[0], findings[0].message
    if len(findings) > 1:
        message = say("reports.picture.more", message=message, n=len(findings) - 1)
    first = (f"{worst.sign} {message}", palette.of_severity(worst.severity))
    # A finding that is an error already explains the failure.
    return [first] if worst.severity == "error" else [first, *problems]


def _note(record: Record, folded: Folded, view: str) -> str:
    """Return a sentence about what the picture does not show."""
    if not len(record.ops):
        return say("reports.picture.no_op")
    if not folded.rows:
        return say("reports.picture.no_gradient") if view == "backward" else ""
    drawn = int(np.count_nonzero(np.bincount(folded.row_of_op[folded.is_shown]) == 1))
    total = len(record.ops)
    if drawn == total:
        return ""
    is_folded = any(len(frame.item.groups) > 1 for frame in folded.frames)
    key = "reports.picture.drawn_folded" if is_folded else "reports.picture.drawn"
    return say(key, drawn=drawn, total=total)
