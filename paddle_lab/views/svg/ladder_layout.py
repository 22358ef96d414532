"""The positions of a ladder's columns, rows and frames, in px."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.views.svg.folding import Folded

BOX_WIDTH_PX, BOX_HEIGHT_PX = 216.0, 26.0
CHIPS_PX = 150.0
"""Room next to a box for its chips."""
MARGIN_PX, INSET_PX = 14.0, 7.0
"""The distance from the picture's edge to the outermost frame, and between nested frames."""
LANES, LANE_PX, FIRST_LANE_PX = 7, 10.0, 16.0
_GAP_PX = 18.0
_FRAME_TITLE_PX, _FRAME_END_PX = 22.0, 10.0
_BOWS_PX = FIRST_LANE_PX + LANES * LANE_PX


@dataclass(frozen=True)
class LadderLayout:
    """The positions of a picture's parts."""

    forward: float | None
    """Left edge of the ops' boxes, None if they are not shown."""
    backward: float | None
    """Left edge of the grad nodes' boxes, None if they are not shown."""
    width: float
    row_y: list[float]
    """Middle of each row."""
    frame_y: list[tuple[float, float]]
    """Top and bottom of each frame."""
    bottom: float
    """Where the last row or frame ends."""


def ladder_layout(folded: Folded, *, view: str, top: float) -> LadderLayout:
    """Return the positions of rows and frames. The first one begins at ``top``."""
    y = top
    row_y: list[float] = []
    tops, bottoms = ([0.0] * len(folded.frames) for _ in range(2))
    for row in range(len(folded.rows)):
        for i, frame in enumerate(folded.frames):
            if frame.first == row:
                tops[i] = y
                y += _FRAME_TITLE_PX
        row_y.append(y + BOX_HEIGHT_PX / 2)
        y += BOX_HEIGHT_PX
        for i, frame in reversed(list(enumerate(folded.frames))):
            if frame.last == row:
                y += _FRAME_END_PX
                bottoms[i] = y
        y += _GAP_PX
    bottom = y - _GAP_PX if folded.rows else y
    deepest = max((frame.depth + 1 for frame in folded.frames), default=0)
    columns = _columns(view, INSET_PX * deepest + MARGIN_PX)
    return LadderLayout(*columns, row_y, list(zip(tops, bottoms, strict=True)), bottom)


def _columns(view: str, edge: float) -> tuple[float | None, float | None, float]:
    """Return the left edges of both columns, and the width of the picture.

    The picture has ``edge`` px of space at each side.
    """
    left = edge + _BOWS_PX
    beside_first = left + BOX_WIDTH_PX + CHIPS_PX
    if view == "ladder":
        return left, beside_first, beside_first + BOX_WIDTH_PX + left
    if view == "forward":
        return left, None, beside_first + edge
    return None, edge + CHIPS_PX, beside_first + edge
