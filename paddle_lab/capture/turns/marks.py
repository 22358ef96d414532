"""Marks on running calls, which store the current iterations of the call's loops."""

from __future__ import annotations

from types import FrameType
from typing import Any, Final

from paddle_lab.capture.turns.loops import Loop
from paddle_lab.capture.turns.variables import Identity

NO_SCOPE: Final = -1


class OpenTurn:
    """The current iteration of a loop in a call."""

    __slots__ = (
        "around",
        "is_waiting",
        "loop",
        "number",
        "order",
        "scope",
        "seen",
        "start",
    )

    def __init__(self, loop: Loop, scope: int, before: OpenTurn | None) -> None:
        self.loop = loop
        self.scope = scope
        self.number: int = 0 if before is None else before.number
        """The iteration's number, from 1; while it waits, that of the previous iteration."""
        self.start: int | None = None if before is None else before.start
        """The counter's value in the first iteration."""
        self.order = NO_SCOPE
        """The latest position of the call in the loop's order."""
        self.seen: list[Identity] = []
        """The identities of the variables, while the iteration runs."""
        self.around: list[Identity] = []
        """The identities of the variables that change only outside of the loop."""
        self.is_waiting = True
        """Whether the body has not begun to run yet."""


class CallMark:
    """The mark on a running call.

    The mark is stored in the frame's ``f_trace``. If tracing is switched on during the call, a
    debugger calls the mark for each line, and the mark returns ``None``.
    """

    __slots__ = ("hidden_levels", "next_mark", "scope", "tracker", "turns")

    def __init__(self, tracker: int, next_mark: CallMark | None) -> None:
        self.tracker = tracker
        """The tracker's serial number, because a mark may live longer than the trace."""
        self.next_mark = next_mark
        """The mark of another trace on the same call."""
        self.scope = NO_SCOPE
        self.hidden_levels = 0
        """How many loops enclosed the call when the trace began."""
        self.turns: list[OpenTurn] = []

    def __call__(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        """Do nothing. A debugger calls this for each line; ``None`` ends tracing of the frame."""


def mark_of(frame: FrameType, tracker: int) -> tuple[CallMark | None, bool]:
    """Return the mark of a call, and whether it is new; None if a debugger uses ``f_trace``."""
    first: Any = frame.f_trace
    if first is not None and not isinstance(first, CallMark):
        return None, False
    mark = first
    while mark is not None:
        if mark.tracker == tracker:
            return mark, False
        mark = mark.next_mark
    frame.f_trace = mark = CallMark(tracker, first)
    return mark, True


def without(mark: CallMark | None, tracker: int) -> CallMark | None:
    """Return the marks of a call, without the mark of one tracker."""
    if mark is None:
        return None
    if mark.tracker == tracker:
        return mark.next_mark
    mark.next_mark = without(mark.next_mark, tracker)
    return mark
