"""Records the breaks of one trace as events."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from paddle_lab.capture.breaks.rows import break_rows, recompilation_row, skipped_rows
from paddle_lab.capture.breaks.watch import Watched
from paddle_lab.capture.static.callstacks import LINE

if TYPE_CHECKING:
    from paddle_lab.capture.breaks.spots import Spot
    from paddle_lab.capture.evidence.events.event_log import EventLog


class BreakLog:
    """The breaks of one trace. A break is noted when Paddle compiles, not at each call."""

    def __init__(self, events: EventLog) -> None:
        self._events = events
        self._skipped: set[CodeType] = set()

    def note(
        self, watched: Watched, code: CodeType | None, frame: FrameType | None
    ) -> Iterator[tuple[str, int]]:
        """Note the breaks of a call. Yield the lines that ran eagerly, without a program.

        Parameters
        ----------
        code
            The code of the compiled function.
        frame
            The caller's frame.
        """
        rows = break_rows(watched.breaks)
        if code is not None and code not in self._skipped:
            self._skipped.add(code)
            rows += skipped_rows(code)
        for row in rows:
            self._add("graph_break", frame, row.spots, (row.kind, row.function))
        for recompiled in watched.recompilations:
            one = recompilation_row(recompiled)
            self._add("recompiled", frame, one.spots, (one.function, *one.missed))
        for row in rows:
            yield row.file, row.line
            if row.function:  # the whole function runs eagerly
                eager = row.spots[0].code
                lines = (line for _, _, line in eager.co_lines() if line is not None)
                yield from ((row.file, line) for line in lines if line > eager.co_firstlineno)
        for text in watched.eager_lines:
            if (place := LINE.match(text)) is not None:
                yield place[1], int(place[2])

    def _add(
        self, kind: str, frame: FrameType | None, spots: tuple[Spot, ...], told: tuple[str, ...]
    ) -> None:
        places = [(spot.code, spot.offset) for spot in spots]
        self._events.note(kind, frame, detail="\n".join(told), places=places)
