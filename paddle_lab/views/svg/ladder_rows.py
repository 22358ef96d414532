"""Paints the boxes of a ladder, and the chips next to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddle_lab.views.svg.ladder_layout import (
    BOX_HEIGHT_PX,
    BOX_WIDTH_PX,
    CHIPS_PX,
    LadderLayout,
)
from paddle_lab.views.svg.row_content import RowContent
from paddle_lab.views.svg.writer import Span, SvgWriter
from paddle_lab.words import say


@dataclass(frozen=True)
class RowPainter:
    """Paints the ops and the grad nodes of a row."""

    svg: SvgWriter
    layout: LadderLayout

    def paint(self, content: RowContent, y: float) -> None:
        """Paint a row: its ops and its grad nodes, if the view shows them."""
        forward, backward = self.layout.forward, self.layout.backward
        if forward is not None:
            self._paint_ops(content, forward, y)
        if backward is not None and content.grad_label:
            self._paint_box(content, backward, y, self.svg.colours.backward, content.grad_label)

    def _paint_ops(self, content: RowContent, x: float, y: float) -> None:
        colours = self.svg.colours
        colour = colours.warn if content.raised else colours.of_phase(content.phase)
        self._paint_box(content, x, y, colour, content.label, content.detail)
        chip_x = x + BOX_WIDTH_PX + 8
        if content.raised:
            span = Span(say("page.box.raised"), 10.5, colours.warn)
            self.svg.text(chip_x, y + 4, span)
            chip_x += span.width_px + 10
        room = x + BOX_WIDTH_PX + CHIPS_PX - 10 - chip_x
        self._paint_chips(content, chip_x, y, room)

    def _paint_box(
        self,
        content: RowContent,
        x: float,
        y: float,
        colour: str,
        label: str,
        detail: str = "",
    ) -> None:
        colours = self.svg.colours
        top, width, height = y - BOX_HEIGHT_PX / 2, BOX_WIDTH_PX, BOX_HEIGHT_PX
        style: dict[str, Any] = {"fill": colours.ground, "stroke": colour, "stroke_width": 1.3}
        if content.is_gap:
            self.svg.rect(x, top, width, height, stroke_dasharray="5 4", **style)
        else:
            if content.repeats > 1:
                self.svg.rect(x + 5, top + 4, width, height, **style)
                self.svg.rect(x + 2.5, top + 2, width, height, **style)
            self.svg.rect(x, top, width, height, **style)
        name = Span(label, 12, colours.ink, is_bold=content.is_group)
        extra = Span(detail, 10.5, colours.soft)
        room = width - 22
        name = name.fitted(max(room * 0.55, room - 7 - extra.width_px) if detail else room)
        room -= name.width_px + 7
        extra = extra.fitted(room if room > 24 else 0)
        full = f"{label} {detail}".strip()
        self.svg.text(x + width / 2, y + 4, name, extra, tooltip=full, text_anchor="middle")

    def _paint_chips(self, content: RowContent, x: float, y: float, room: float) -> None:
        leaf, soft = self.svg.colours.leaf, self.svg.colours.soft
        if content.is_group or content.is_gap:
            text = say("page.count.parameter", n=len(content.parameters))
            chips = [Span(text, 10, leaf)] if content.parameters else []
        else:
            chips = [Span(name, 10, leaf) for name in content.parameters]
            chips += [Span(name, 10, soft) for name in (*content.buffers, *content.data)]
        for i, chip in enumerate(chips):
            fitted = chip.fitted(92)
            needed = fitted.width_px + 12 + (24 if i + 1 < len(chips) else 0)
            if needed > room:
                self.svg.text(x, y + 4, Span(f"+{len(chips) - i}", 10, soft))
                return
            self._paint_chip(x, y, fitted)
            x, room = x + fitted.width_px + 16, room - fitted.width_px - 16

    def _paint_chip(self, x: float, y: float, chip: Span) -> None:
        width = chip.width_px + 12
        colour: dict[str, Any] = {"fill": self.svg.colours.chip, "stroke": chip.colour}
        self.svg.rect(x, y - 8, width, 16, radius=8, **colour, stroke_width=0.8)
        self.svg.text(x + width / 2, y + 3.5, chip, text_anchor="middle")
