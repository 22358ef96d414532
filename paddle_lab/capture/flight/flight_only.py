"""Writes the flight record of a program, without a trace."""

from __future__ import annotations

from types import FrameType, TracebackType

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.hooks.hooks import HOOKS
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.recorder.recorder import Recorder


class FlightOnly:
    """A context manager that writes each op of a block into the flight record.

    A trace inside the block records its ops as usual, in the flight record, too.

    Parameters
    ----------
    title
        The title of the report, if the process dies.
    anchor
        The frame that runs the block. Stacks end there.

    Raises
    ------
    PaddleUnavailableError
        If there is no Paddle that can be traced.
    """

    def __init__(self, title: str, anchor: FrameType) -> None:
        self._title = title
        self._paddle = require_paddle()
        self._recorder = Recorder(self._paddle, anchor=anchor, keeps_callers=False)
        self._recorder.writes_flight_only = True
        self._recorder.on_step_end = lambda *_, **__: None

    @property
    def op_count(self) -> int:
        """How many ops have run."""
        return FLIGHT.row_count

    def __enter__(self) -> None:
        FLIGHT.enter_program(self._title)
        if NATIVE is not None:
            # If this fails, the program runs without a flight record.
            self._recorder.attempt(HOOKS.open, self._paddle, self._recorder)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        HOOKS.close(self._recorder)
        FLIGHT.leave_program()
