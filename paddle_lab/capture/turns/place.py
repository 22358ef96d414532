"""Finds the position of a call in the loops around it."""

from __future__ import annotations

from types import FrameType
from typing import Final

from paddle_lab.capture.turns.loops import IS_HEADER, IS_REPEATING, CodeLoops, Loop
from paddle_lab.capture.turns.marks import OpenTurn
from paddle_lab.capture.turns.variables import Identity, identity, variable, variables_of

_CO_SUSPENDS: Final = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


class Place:
    """The current position of a running call in its loops.

    Parameters
    ----------
    frame, inner
        The call's frame, and the frame that it called; None if that is not Python code.
    loops
        The loops of the frame's code.
    hidden_levels
        How many loops the call was in when the trace began.
    """

    def __init__(
        self, frame: FrameType, inner: FrameType | None, loops: CodeLoops, hidden_levels: int
    ) -> None:
        self.frame = frame
        self.inner = inner
        innermost, order, flags = loops.at(frame.f_lasti // 2)
        self.path = _path(loops, innermost, hidden_levels)
        """The enclosing loops, outermost first."""
        # The order of the call in each loop: the orders of inner loops, and at last the
        # instruction's order.
        self.orders = [*(loop.order for loop in self.path[1:]), order]
        is_header = bool(self.path) and bool(flags & IS_HEADER)
        # A generator in the header may run its own code during many iterations. Then the call is
        # before or between iterations, so it belongs to the enclosing loop.
        self.is_between = is_header and _is_suspendable(inner)
        self._left = None
        if self.is_between:
            self._left = self.path.pop()
            self.orders.pop()
        self.is_header = is_header and not self.is_between
        self.is_repeating = bool(flags & IS_REPEATING)

    def is_last(self, level: int) -> bool:
        """Tell whether this is the level of the innermost loop."""
        return level == len(self.path) - 1

    def iteration_before(self, turns: list[OpenTurn]) -> OpenTurn | None:
        """Return the iteration after which the next one can follow; None if there is none.

        Parameters
        ----------
        turns
            The latest iterations of the call's loops.
        """
        left = turns[len(self.path) :]
        if not self.is_between or len(left) != 1 or left[0].loop is not self._left:
            return None
        is_told = not left[0].is_waiting and len(left[0].seen) == len(left[0].loop.names)
        return left[0] if is_told else None

    def variables(
        self, before: OpenTurn | None
    ) -> tuple[tuple[str, ...], tuple[Identity, ...]] | None:
        """Return the variables that change when an iteration begins, and their identities.

        Return None in a header, and if the variables of a loop cannot be told now.

        Parameters
        ----------
        before
            The iteration that :meth:`iteration_before` returns; its variables come last.
        """
        if self.is_header:
            return None
        if not all(variables_of(self.frame, loop) for loop in self.path if loop.names):
            return None
        names = tuple(name for loop in self.path for name in (*loop.names, *loop.around))
        identities = tuple(identity(variable(self.frame, name)) for name in names)
        if before is None:
            return names, identities
        names = (*names, *before.loop.names, *before.loop.around)
        return names, (*identities, *before.seen, *before.around)


def _is_suspendable(called: FrameType | None) -> bool:
    """Tell whether the called code is a generator or coroutine, which may be suspended."""
    return called is not None and bool(called.f_code.co_flags & _CO_SUSPENDS)


def _path(loops: CodeLoops, innermost: int, hidden_levels: int) -> list[Loop]:
    """Return the loops around an instruction, the outermost first."""
    path: list[Loop] = []
    while innermost >= 0:
        path.insert(0, loops.loops[innermost])
        innermost = path[0].parent
    return path[hidden_levels:]
