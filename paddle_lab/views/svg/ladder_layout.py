"""Where the columns, rows and frames of a ladder are, in px."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.views.svg.folding import Folded

BOX_WIDTH_PX, BOX_HEIGHT_PX = 216.0, 26.0
CHIPS_PX = 150.0
"""Room beside a box for its chips."""
MARGIN_PX, INSET_PX = 14.0, 7.0
"""Of the outermost frame from the picture's edge, of an inner frame from the outer one."""
LANES, LANE_PX, FIRST_LANE_PX = 7, 10.0, 16.0
_GAP_PX = 18.0
_FRAME_TITLE_PX, _FRAME_END_PX = 22.0, 10.0
_BOWS_PX = FIRST_LANE_PX + LANES * LANE_PX


@dataclass(frozen=True)
class Columns:
    """Left edges of what stands side by side, in px; None where there is no such column."""

    forward: float | None
    backward: float | None
    width: float

    @classmethod
    def of(cls, view: str, deepest: int) -> Columns:
        """Return the columns of a view whose frames are nested ``deepest`` deep."""
        inset = INSET_PX * deepest
        left = MARGIN_PX + inset + _BOWS_PX
        right = _BOWS_PX + inset + MARGIN_PX
        if view == "ladder":
            backward = left + BOX_WIDTH_PX + CHIPS_PX
            return cls(left, backward, backward + BOX_WIDTH_PX + right)
        width = left + BOX_WIDTH_PX + CHIPS_PX + inset + MARGIN_PX
        if view == "forward":
            return cls(left, None, width)
        return cls(None, MARGIN_PX + inset + CHIPS_PX, width)


class LadderLayout:
    """Heights of rows and frames below ``top``.

    Parameters
    ----------
    folded
        Rows and frames.
    top
        Where the first one begins, px.
    """

    def __init__(self, folded: Folded, *, top: float) -> None:
        self.row_y: list[float] = []
        """Middle of each row."""
        self.frame_y: list[tuple[float, float]] = [(0.0, 0.0)] * len(folded.frames)
        """Top and bottom of each frame."""
        y = top
        opening: dict[int, list[int]] = {}
        closing: dict[int, list[int]] = {}
        for i, frame in enumerate(folded.frames):
            opening.setdefault(frame.first, []).append(i)
            closing.setdefault(frame.last, []).append(i)
        for row in range(len(folded.rows)):
            for i in opening.get(row, ()):
                self.frame_y[i] = (y, 0.0)
                y += _FRAME_TITLE_PX
            self.row_y.append(y + BOX_HEIGHT_PX / 2)
            y += BOX_HEIGHT_PX
            for i in reversed(closing.get(row, ())):
                y += _FRAME_END_PX
                self.frame_y[i] = (self.frame_y[i][0], y)
            y += _GAP_PX
        self.bottom = y - _GAP_PX if folded.rows else y
        """Where the last one ends."""
