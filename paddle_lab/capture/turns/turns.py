"""Finds the call of a user's function and the loop iteration to which an op belongs.

In the code, an iteration is called *turn*. Each call of a user's function gets a mark, which is
stored in the frame's attribute ``f_trace`` and lives as long as the call. Python reads this
attribute only while a debugger traces the thread. So two calls from the same line can be
distinguished. The mark has the current iteration of each loop in the call. An iteration begins when
a variable of a ``for`` has another value. If the variables are not known, it begins when the code
jumps back to the start of the loop's body. Calls and iterations are scopes, like calls of layers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import CodeType, FrameType
from typing import Any, Final

from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.rows.address_table import AddressTable
from paddle_lab.capture.stacks.frame_kinds import is_runner
from paddle_lab.capture.turns.loops import CodeLoops, Loop
from paddle_lab.capture.turns.marks import CallMark, OpenTurn, mark_of, without
from paddle_lab.capture.turns.place import Place
from paddle_lab.capture.turns.variables import (
    MISSING,
    are_same,
    can_read_variables,
    identity,
    shown_value,
    variable,
    variables_of,
)
from paddle_lab.trace.schema import SCOPE_KINDS

_CALL: Final = SCOPE_KINDS.index("call")
_TURN: Final = SCOPE_KINDS.index("turn")
_NONE: Final = -1
_BEGAN_BEFORE: Final = -2
_SAME, _NEXT, _RESTARTED = range(3)
_FINALIZER: Final = "__del__"
_HAS_LOOPS, _ASK_PYTHON, _RUNS_CELLS, _FIRST_SIMPLE = range(1, 5)
"""Values in the table of watched code, for the native code: code with loops; code about which it
must ask Python; code that runs cells, whose callers do not count; and, from the last on, code
without loops, by the name of its scopes."""
_SERIALS: Final = count(1)
_LARGEST_COUNT: Final = 1 << 62
"""The native part does not read a counter that starts beyond this, or whose step is larger."""


class TurnTracker:
    """Opens a scope for each call and each iteration in which something is recorded.

    The native code keeps the last result, and calls this class only if something has changed
    (``native/stacks/last_scope.c``). It also begins the next iteration of a ``for`` loop.

    Parameters
    ----------
    scopes
        The tape of scopes, to which calls and turns are added.
    next_scope
        Returns new keys of scopes.
    rows
        The tape of iterations: rows of :class:`TurnCell`.
    values
        Values of loop variables that are numbers or text.
    describe
        Returns the loops of a code object, ``None`` if the code is not the user's.
    """

    def __init__(
        self,
        scopes: Any,
        next_scope: Any,
        rows: Any,
        values: list[Any],
        describe: Callable[[CodeType], CodeLoops | None],
    ) -> None:
        self._scopes = scopes
        self._next_scope = next_scope
        self._rows = rows
        self._values = values
        self._describe = describe
        self.serial = next(_SERIALS)
        self._codes: dict[int, tuple[CodeType, CodeLoops | None]] = {}
        self._is_watched = AddressTable()
        """For the native part: whether the code at an address has calls or loops to record."""
        self._finding: set[int] = set()
        """The threads that are running :meth:`find_scope` now."""
        self.last_scope: Any = NATIVE and NATIVE.LastScope(
            self._is_watched, scopes, next_scope, rows, values, CallMark, self.serial
        )

    def scope_at(
        self, frame: FrameType | None, anchor: FrameType | None, scope: int, thread: int
    ) -> int:
        """Return the innermost open scope: ``scope`` itself, or a call or iteration inside it.

        Parameters
        ----------
        frame
            The innermost frame.
        anchor
            The frame at which ``scope`` was opened, or a frame outside of the trace.
        scope
            The innermost scope that is neither a call nor an iteration, -1 for none.
        thread
            The thread's number.
        """
        if sys.gettrace() is not None:  # a debugger uses the attribute f_trace itself
            return scope
        known = self.last_scope and self.last_scope.find(self, frame, anchor, scope, thread)
        return self.find_scope(frame, anchor, scope, thread) if known is None else known

    def find_scope(
        self, frame: FrameType | None, anchor: FrameType | None, scope: int, thread: int
    ) -> int:
        """Find the scope like :meth:`scope_at`, but without using the last result.

        An op inside a finalizer (``__del__``) gets ``scope``. Python may run a finalizer in the
        middle of any call, and many finalizers at one instruction, so finalizers do not tell
        anything about loops.
        """
        if thread in self._finding:
            return scope
        self._finding.add(thread)
        try:
            return self._find_scope(frame, anchor, scope, thread)
        finally:
            self._finding.discard(thread)

    def _find_scope(
        self, frame: FrameType | None, anchor: FrameType | None, scope: int, thread: int
    ) -> int:
        calls = self._watched_calls(frame, anchor)
        if calls is None:
            return scope
        found = scope
        kept: list[Any] = []
        for at, loops, inner in calls:
            mark = self.mark_of(at)
            if self.last_scope:
                self.last_scope.forget(mark)
            if mark is None:
                kept.append(None)
                continue
            if mark.scope == _NONE and loops.name >= 0:
                mark.scope = self._open(_CALL, loops.name, found, thread)
            found = max(found, mark.scope)
            unit = at.f_lasti // 2
            answer: tuple[Any, ...] | None
            answer = (mark.scope, mark.scope, unit, loops.units, (), (), None, None, None)
            # For two nested loops, the ops alone do not show which of the loops begins again.
            if loops.loops and can_read_variables(at.f_code):
                place = Place(at, inner, loops, mark.hidden_levels)
                found = self._turn_at(mark, place, found, thread)
                answer = self._to_keep(mark, place, loops)
            kept.append(answer and (at, mark, *answer))
        if self.last_scope and calls and None not in kept:
            self.last_scope.keep(kept)
        return found

    def _to_keep(self, mark: CallMark, at: Place, loops: CodeLoops) -> tuple[Any, ...] | None:
        """Return data with which the native code can tell whether a call is in the same iterations.

        The data contains the innermost scope of the call, and the scope around its innermost
        iteration; the instruction of the last op in this iteration, and all instructions of the
        call's code; the variables and their identities. Between two iterations it has those of
        the iteration before. Sometimes only another call shows that the next iteration has begun.
        Then the data also contains the mark of the called frame, or another object if that frame
        has no mark. The last items are the innermost iteration, and what is needed to begin the
        next iteration, or None.
        """
        before = at.iteration_before(mark.turns)
        variables = at.variables(before)
        if variables is None:
            return None
        turns = mark.turns[: len(at.path) + (before is not None)]
        scopes = [mark.scope, *(turn.scope for turn in turns)]
        unit = at.frame.f_lasti // 2
        if not turns or (at.is_between and before is None):
            return (max(scopes), max(scopes), unit, loops.units, *variables, None, None, None)
        turn = turns[-1]
        loop = turn.loop
        now = variables_of(at.frame, loop)
        is_counted = _counted(loop, turn.start, now, turn.order) is not None
        is_told = is_counted and (len(turns) == 1 or bool(turns[-2].loop.names))
        called = None if is_told else MISSING
        if before is not None:
            unit = loops.units[1::3].index(turn.order)
        elif called is MISSING and at.inner is not None:
            called = self.mark_of(at.inner) or MISSING
        start, step = (turn.start or 0, loop.step) if is_counted else (0, 0)
        can_go_on = not loop.modes and loop.counts == is_counted
        can_go_on = can_go_on and (not loop.is_while or is_told or not loop.names)
        after = None
        if can_go_on and max(abs(start), abs(step)) < _LARGEST_COUNT:
            own_first = len(variables[0]) - len(loop.names) - len(loop.around)
            after = (
                *(own_first, len(loop.names), loop.name, loop.key, loop.shown),
                *(turn.number, start, step, loop.stepped_after),
            )
        outside = max(scopes[:-1])
        return (max(scopes), outside, unit, loops.units, *variables, called, turn, after)

    def _watched_calls(
        self, frame: FrameType | None, anchor: FrameType | None
    ) -> list[tuple[FrameType, CodeLoops, FrameType | None]] | None:
        """Return the running calls of the user's functions, the outermost first.

        Each call comes with the frame that it called. Return ``None`` inside a finalizer.
        """
        calls: list[tuple[FrameType, CodeLoops, FrameType | None]] = []
        called = None
        while frame is not anchor and frame is not None:
            loops = self._loops_of(frame.f_code)
            if frame.f_code.co_name == _FINALIZER:
                return None
            if loops is not None:
                calls.append((frame, loops, called))
            elif is_runner(frame.f_code.co_filename):
                break  # a script may run cells in a loop
            called, frame = frame, frame.f_back
        return calls[::-1]

    def begin(self, frame: FrameType) -> None:
        """Ignore the loops around the current instruction, because the trace began inside them."""
        loops = self._loops_of(frame.f_code)
        if loops is None or sys.gettrace() is not None:
            return
        mark = self.mark_of(frame)
        if mark is not None:
            mark.scope = _BEGAN_BEFORE
            innermost, _, _ = loops.at(frame.f_lasti // 2)
            mark.hidden_levels = 0 if innermost < 0 else loops.loops[innermost].level + 1

    def end(self, frame: FrameType | None) -> None:
        """Remove the marks from calls that continue after the trace."""
        while frame is not None:
            if isinstance(frame.f_trace, CallMark):
                frame.f_trace = without(frame.f_trace, self.serial)
            frame = frame.f_back

    def _loops_of(self, code: CodeType) -> CodeLoops | None:
        known = self._codes.get(id(code))
        if known is None:
            # If another thread describes the same code, both must use the same objects.
            known = self._codes.setdefault(id(code), (code, self._describe(code)))
            self._is_watched.note(id(code), 0, _watched(*known))
        return known[1]

    def mark_of(self, frame: FrameType) -> CallMark | None:
        """Return the mark of a call, a new one if needed; None if a debugger uses ``f_trace``."""
        return mark_of(frame, self.serial)[0]

    def _open(self, kind: int, name: int, parent: int, thread: int) -> int:
        scope: int = self._next_scope()
        self._scopes.extend((scope, kind, name, parent, _NONE, _NONE, thread))
        return scope

    def _turn_at(self, mark: CallMark, at: Place, scope: int, thread: int) -> int:
        turns, path = mark.turns, at.path
        if not at.is_between:
            del turns[len(path) :]
        level = self._continued(turns, at, scope)
        if level > 0:
            scope = max(scope, turns[level - 1].scope)
        if level == len(path):
            return scope
        left = turns[level] if level < len(turns) and turns[level].loop is path[level] else None
        del turns[level:]
        for deeper in range(level, len(path)):
            loop = path[deeper]
            scope = self._open(_TURN, loop.name, scope, thread)
            turns.append(OpenTurn(loop, scope, left))
            left = None
            turns[-1].around = [identity(variable(at.frame, name)) for name in loop.around]
            if not (at.is_last(deeper) and at.is_header):
                self._enter(turns[-1], at.frame, at.orders[deeper], variables_of(at.frame, loop))
                if at.is_last(deeper) and at.inner is not None:
                    self.mark_of(at.inner)
        return scope

    def _continued(self, turns: list[OpenTurn], at: Place, scope: int) -> int:
        """Return how many open iterations continue, the outermost first.

        Only iterations that contain ``scope`` can continue.
        """
        level = 0
        while level < min(len(turns), len(at.path)) and turns[level].loop is at.path[level]:
            turn = turns[level]
            if at.is_last(level) and at.is_header:
                if not turn.is_waiting:
                    break
            elif turn.is_waiting:
                self._enter(turn, at.frame, at.orders[level], variables_of(at.frame, turn.loop))
            else:
                told = self._told(turns, level, at, scope)
                if told == _RESTARTED and level > 0:
                    # The inner loop began again. So the outer loop is in its next iteration.
                    return level - 1
                if told != _SAME:
                    break
                turn.order = at.orders[level]
            level += 1
        return level

    def _told(self, turns: list[OpenTurn], level: int, at: Place, scope: int) -> int:
        """Tell whether an iteration continues, a later one has begun, or the loop began again."""
        turn, order = turns[level], at.orders[level]
        if not at.is_last(level) and _was_left(turns[level + 1 :], at.frame, at.path[level + 1]):
            return _NEXT
        now = variables_of(at.frame, turn.loop)
        counted = _counted(turn.loop, turn.start, now, order)
        if counted is not None and counted != turn.number:
            return _RESTARTED if counted < turn.number else _NEXT
        if counted is not None and (level == 0 or turns[level - 1].loop.names):
            return _SAME
        again = _NEXT if counted is None else _RESTARTED
        if order < turn.order or not are_same(turn.seen, now):
            return again
        # An iteration makes only one call from the same place with the same variables, so this is a
        # new iteration. But the old one continues while a scope inside it is open, such as a
        # PyLayer's.
        is_new = at.is_last(level) and scope < turn.scope and self._is_new(at)
        return again if is_new and order == turn.order and not at.is_repeating else _SAME

    def _is_new(self, at: Place) -> bool:
        """Tell whether the called frame is new, and mark it.

        Called code that is not Python is always new. A generator in the header is never new.
        """
        return not at.is_between and (at.inner is None or mark_of(at.inner, self.serial)[1])

    def _enter(self, turn: OpenTurn, frame: FrameType, order: int, now: list[Any]) -> None:
        """Record that the body of an iteration runs. ``now`` has the values of its variables."""
        loop = turn.loop
        turn.is_waiting = False
        turn.order = order
        turn.seen = list(map(identity, now))
        turn.number += 1
        shown = shown_value(frame, loop)
        if loop.counts and now and type(now[0]) is int:
            value = now[0] - loop.step * (0 <= loop.stepped_after <= order)
            shown = value if loop.names[0] in loop.shown else shown
            if turn.start is None:
                before = loop.step * (turn.number - 1)
                turn.start = value - before if loop.start is None else loop.start
            counted = _counted(loop, turn.start, now, order)
            turn.number = turn.number if counted is None else max(counted, 1)
        at, key = _NONE, loop.modes.get(shown, loop.key)
        if shown is not None and key == loop.key:
            at = len(self._values)
            self._values.append(shown)
        self._rows.extend((turn.scope, key, turn.number, at))


def _watched(code: CodeType, loops: CodeLoops | None) -> int:
    """Return what the native code must know about code."""
    if code.co_name == _FINALIZER:
        return _ASK_PYTHON
    if loops is None:
        return _RUNS_CELLS if is_runner(code.co_filename) else 0
    return _HAS_LOOPS if loops.loops else _FIRST_SIMPLE + 1 + loops.name


def _counted(loop: Loop, start: int | None, now: list[Any], order: int) -> int | None:
    """Return the number of an iteration, computed from the value of the loop's counter.

    Return None if the loop has no counter, or if the counter never takes this value.
    """
    if not loop.counts or start is None or not now or type(now[0]) is not int:
        return None
    distance = now[0] - start - loop.step * (0 <= loop.stepped_after <= order)
    return None if distance % loop.step else distance // loop.step + 1


def _was_left(inner: list[OpenTurn], frame: FrameType, loop: Loop) -> bool:
    """Tell whether a loop has ended and begun again since its last iteration."""
    if not inner or inner[0].loop is not loop:
        return False
    return not are_same(inner[0].around, [variable(frame, name) for name in loop.around])
