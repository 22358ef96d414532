"""Finds the call of the user's function, and the loop iteration, that an op belongs to.

An iteration is called *turn* in the code. Each call of a user's function gets a mark, which lives
as long as the call: it is stored in the frame's attribute ``f_trace``, which Python reads only
while a debugger traces the thread. So two calls from one line are distinct. The mark knows the
present iteration of each loop in the call. An iteration begins when a variable of a ``for`` has
another value. If the variables are not known, it begins when the code jumps back to the start of
the loop's body. Calls and iterations are scopes, like calls of layers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from types import CodeType, FrameType
from typing import Any, Final
from weakref import ref

from paddle_lab.capture.native import NATIVE, native_twin
from paddle_lab.capture.rows.address_table import AddressTable
from paddle_lab.capture.stacks.frame_kinds import is_runner
from paddle_lab.capture.turns.loops import IS_HEADER, IS_REPEATING, CodeLoops, Loop
from paddle_lab.trace.schema import SCOPE_KINDS

_CALL: Final = SCOPE_KINDS.index("call")
_TURN: Final = SCOPE_KINDS.index("turn")
_NONE: Final = -1
_BEGAN_BEFORE: Final = -2
_CO_OPTIMIZED: Final = 0x1
_CO_SUSPENDS: Final = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_CAN_READ_LOCALS: Final = sys.version_info >= (3, 13)
_MISSING: Final = object()
_SAME, _NEXT, _RESTARTED = range(3)
_SERIALS: Final = count(1)
_HELD_TYPES: Final = (int, float, str)


Identity = tuple[int, Any]
"""Identifies a variable's object, which is not held: that would keep it alive.

The address, and a witness that distinguishes the object from a later one at the same address: a
weak reference to it or to its first item, or the number or text itself. None if the object allows
neither.
"""


def identity(value: Any) -> Identity:
    """Return the identity of a variable's value."""
    item = _first_item(value)
    if type(item) in _HELD_TYPES:
        return id(value), item
    try:
        return id(value), ref(item)
    except TypeError:
        return id(value), None


def _is_of(seen: Identity, value: Any) -> bool:
    """Return whether a variable still has the object that an identity is of."""
    address, witness = seen
    if address != id(value):
        return False
    item = witness() if isinstance(witness, ref) else witness
    return witness is None or item is _first_item(value)


def _first_item(value: Any) -> Any:
    """Return the first item of a list or tuple; return any other value itself."""
    return value[0] if type(value) in (list, tuple) and value else value


class OpenTurn:
    """The present iteration of one loop in a call."""

    __slots__ = (
        "around",
        "is_waiting",
        "loop",
        "number",
        "order",
        "parent",
        "scope",
        "seen",
        "start",
    )

    def __init__(self, loop: Loop, scope: int, before: OpenTurn | None) -> None:
        self.loop = loop
        self.scope = scope
        self.parent = _NONE
        """The scope around the iteration."""
        self.number: int = 0 if before is None else before.number
        """From 1. While the iteration is waiting, the number of the iteration before it."""
        self.start: int | None = None if before is None else before.start
        """The counter's value in the first iteration."""
        self.order = _NONE
        """The last position of the call in the loop's order."""
        self.seen: list[Identity] = []
        """The identities of the variables, while the iteration runs."""
        self.around: list[Identity] = []
        """The identities of the variables that change only around the loop."""
        self.is_waiting = True
        """Whether only code before the body has run."""


class CallMark:
    """The mark of one call while it runs.

    The mark is the frame's ``f_trace``. If tracing is switched on during the call, a debugger calls
    the mark for each line, and the mark returns ``None``.
    """

    __slots__ = ("hidden_levels", "loops", "next_mark", "scope", "tracker", "turns")

    def __init__(self, tracker: int, next_mark: CallMark | None) -> None:
        self.loops: CodeLoops | None = None
        self.tracker = tracker
        """The tracker's serial number: a mark may live longer than the trace."""
        self.next_mark = next_mark
        """The mark of another trace on the same call."""
        self.scope = _NONE
        self.hidden_levels = 0
        """How many loops the call was in when the trace began."""
        self.turns: list[OpenTurn] = []

    def __call__(self, _frame: FrameType, _event: str, _argument: Any) -> None:
        """Do nothing. A debugger calls this for each line; None ends its tracing of the frame."""


class Place:
    """The present position of a call in its loops.

    Parameters
    ----------
    mark
        The mark of the call.
    frame, inner
        The call's frame, and the frame that it has called, None if that is not Python.
    loops
        The loops of its code.
    """

    def __init__(
        self, mark: CallMark, frame: FrameType, inner: FrameType | None, loops: CodeLoops
    ) -> None:
        self.frame = frame
        self.inner = inner
        innermost, order, flags = loops.at(frame.f_lasti // 2)
        self.path = _path(loops, innermost, mark.hidden_levels)
        """The loops around, outermost first."""
        # The call's order in each loop: that of the loop inside, and at last the instruction's own.
        self.orders = [*(loop.order for loop in self.path[1:]), order]
        self.is_header = bool(self.path) and bool(flags & IS_HEADER)
        self.is_repeating = bool(flags & IS_REPEATING)

    def is_last(self, level: int) -> bool:
        """Tell whether a level is that of the innermost loop."""
        return level == len(self.path) - 1

    def variables(self) -> tuple[tuple[str, ...], tuple[Any, ...], int, int] | None:
        """Return the variables that change when an iteration begins, and witnesses of their values.

        The last two numbers say which of them are the innermost loop's own. None if the variables
        do not show when an iteration begins.
        """
        if self.is_header or not all(_variables(self.frame, loop) for loop in self.path):
            return None
        names = tuple(name for loop in self.path for name in (*loop.names, *loop.around))
        witnesses = tuple(identity(_variable(self.frame, name))[1] for name in names)
        own = 0 if not self.path or self.path[-1].is_while else len(self.path[-1].names)
        return names, witnesses, len(names) - own - len(self.path[-1].around) if own else 0, own

    def is_in_generator(self) -> bool:
        """Tell whether the called code is a generator or coroutine, which may go on later."""
        return self.inner is not None and bool(self.inner.f_code.co_flags & _CO_SUSPENDS)


class TurnTracker:
    """Opens a scope for each call and iteration in which something is recorded.

    The native part keeps the last answer, and asks again if something has changed
    (``native/stacks/last_scope.c``). So this code runs about once per iteration, not once per op.

    Parameters
    ----------
    scopes
        The tape of scopes, to which calls and turns are added.
    next_scope
        Gives keys.
    rows
        The tape of iterations: rows of :class:`TurnCell`.
    values
        Values of loop variables that are numbers or text.
    describe
        Returns the facts about a code object, ``None`` if it is not the user's.
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
        """For the native part: whether the code at an address has anything to record."""
        self.last_scope: Any = NATIVE and NATIVE.LastScope(self._is_watched)

    def scope_at(
        self, frame: FrameType | None, anchor: FrameType | None, scope: int, thread: int
    ) -> int:
        """Return the innermost scope that is open: ``scope``, or a call or iteration inside it.

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
        if sys.gettrace() is not None:  # a debugger needs the attribute f_trace itself
            return scope
        known = self.last_scope and self.last_scope.find(self, frame, anchor, scope, thread)
        return self.find_scope(frame, anchor, scope, thread) if known is None else known

    def find_scope(
        self, frame: FrameType | None, anchor: FrameType | None, scope: int, thread: int
    ) -> int:
        """Find the scope, as :meth:`scope_at` does, but without the last answer."""
        calls = self._watched_calls(frame, anchor)
        if self.last_scope and calls:
            for mark, unit in self.last_scope.take():
                if mark.turns:
                    _, mark.turns[-1].order, _ = mark.loops.at(unit)
        found, own = scope, _NONE
        kept: list[Any] = []
        for at, loops, inner in calls:
            mark, _ = self._mark_of(at)
            if mark is None:
                kept.append(None)
                continue
            mark.loops = loops
            if mark.scope == _NONE and loops.name >= 0:
                mark.scope = self._open(_CALL, loops.name, found, thread)
            found = max(found, mark.scope)
            known: tuple[Any, ...] | None = ((), (), 0, 0, None)
            if loops.loops:
                place = Place(mark, at, inner, loops)
                found = self._turn_at(mark, place, found, thread)
                variables = place.variables()
                known = variables and (*variables, self._call_to_keep(mark, place))
            own = max(own, mark.scope, *(turn.scope for turn in mark.turns))
            kept.append(None if known is None else (at, mark, loops.units, *known))
        if self.last_scope and calls and None not in kept:
            self.last_scope.keep(own, scope, kept[::-1])
        return found

    def next_turn(
        self,
        mark: CallMark,
        frame: FrameType,
        inner: FrameType | None,
        now: list[Any],
        order: int,
        thread: int,
    ) -> tuple[int, list[Identity], Any] | None:
        """Begin the next iteration of a ``for`` loop whose variables alone have changed.

        The native part calls it in the place of :meth:`find_scope`, which would do the same.

        Parameters
        ----------
        mark
            The mark of the innermost call, which is in the body of its last loop.
        frame, inner
            The call's frame, and the frame that it has called.
        now
            The values of the loop's variables.
        order
            The order of the instruction.
        thread
            The thread's number.

        Returns
        -------
        tuple or None
            The iteration's scope, the identities of ``now``, and the called frame's mark as
            in :meth:`_call_to_keep`. None if a counter does not give the next iteration.
        """
        turn = mark.turns[-1]
        loop = turn.loop
        counted = _counted(loop, turn.start, now, order) if loop.counts else None
        if turn.is_waiting or (counted is not None and counted <= turn.number):
            return None
        turn.scope = self._open(_TURN, loop.name, turn.parent, thread)
        self._enter(turn, frame, order, now)
        called = None if counted is not None else (inner and self.mark_of(inner)) or _MISSING
        return turn.scope, turn.seen, called

    def _call_to_keep(self, mark: CallMark, at: Place) -> Any:
        """Return the mark of the called frame, if only another call shows the next iteration.

        None if a counter counts the iterations; another object if the called frame has no mark.
        """
        if not at.path:
            return None
        turn = mark.turns[-1]
        now = _variables(at.frame, turn.loop)
        if _counted(turn.loop, turn.start, now, at.orders[-1]) is not None:
            return None
        return (at.inner and self.mark_of(at.inner)) or _MISSING

    def _watched_calls(
        self, frame: FrameType | None, anchor: FrameType | None
    ) -> list[tuple[FrameType, CodeLoops, FrameType | None]]:
        """Return the calls of the user's functions, outermost first, each with its called frame."""
        calls: list[tuple[FrameType, CodeLoops, FrameType | None]] = []
        called = None
        while frame is not anchor and frame is not None:
            loops = self._loops_of(frame.f_code)
            if loops is not None:
                calls.append((frame, loops, called))
            elif is_runner(frame.f_code.co_filename):
                break  # a script may run cells in a loop
            called, frame = frame, frame.f_back
        return calls[::-1]

    def begin(self, frame: FrameType) -> None:
        """Exclude the loops that a frame is in: the trace began inside of them."""
        loops = self._loops_of(frame.f_code)
        if loops is None or sys.gettrace() is not None:
            return
        mark, _ = self._mark_of(frame)
        if mark is not None:
            mark.scope = _BEGAN_BEFORE
            innermost, _, _ = loops.at(frame.f_lasti // 2)
            mark.hidden_levels = 0 if innermost < 0 else loops.loops[innermost].level + 1

    def end(self, frame: FrameType | None) -> None:
        """Remove the marks from the calls that go on after the trace."""
        while frame is not None:
            if isinstance(frame.f_trace, CallMark):
                frame.f_trace = _without(frame.f_trace, self.serial)
            frame = frame.f_back

    def _loops_of(self, code: CodeType) -> CodeLoops | None:
        known = self._codes.get(id(code))
        if known is None:
            known = self._codes[id(code)] = code, self._describe(code)
            self._is_watched.note(id(code), 0, int(known[1] is not None))
        return known[1]

    def mark_of(self, frame: FrameType) -> CallMark | None:
        """Return a call's mark, a new one if it has none; None if a debugger has set its own."""
        return self._mark_of(frame)[0]

    def _mark_of(self, frame: FrameType) -> tuple[CallMark | None, bool]:
        """Return a call's mark, and whether it is new; None if a debugger has set its own."""
        first: Any = frame.f_trace
        if first is not None and not isinstance(first, CallMark):
            return None, False
        mark = first
        while mark is not None:
            if mark.tracker == self.serial:
                return mark, False
            mark = mark.next_mark
        frame.f_trace = mark = CallMark(self.serial, first)
        return mark, True

    def _is_new(self, frame: FrameType | None) -> bool:
        """Tell whether a call is seen for the first time. One that is not Python is always new."""
        return frame is None or self._mark_of(frame)[1]

    def _open(self, kind: int, name: int, parent: int, thread: int) -> int:
        scope: int = self._next_scope()
        self._scopes.extend((scope, kind, name, parent, _NONE, _NONE, thread))
        return scope

    def _turn_at(self, mark: CallMark, at: Place, scope: int, thread: int) -> int:
        turns, path = mark.turns, at.path
        if at.is_header and at.is_in_generator():
            # A generator in the header runs code of its own, perhaps during many iterations.
            return max(scope, turns[len(path) - 2].scope) if 1 < len(path) <= len(turns) else scope
        del turns[len(path) :]
        level = self._continued(turns, at, scope)
        left = turns[level] if level < len(turns) and turns[level].loop is path[level] else None
        if level > 0:
            scope = max(scope, turns[level - 1].scope)
        del turns[level:]
        for deeper in range(level, len(path)):
            loop, parent = path[deeper], scope
            scope = self._open(_TURN, loop.name, parent, thread)
            turns.append(OpenTurn(loop, scope, left))
            turns[-1].parent = parent
            left = None
            turns[-1].around = [identity(_variable(at.frame, name)) for name in loop.around]
            if not (at.is_last(deeper) and at.is_header):
                self._enter(turns[-1], at.frame, at.orders[deeper], _variables(at.frame, loop))
                if at.is_last(deeper):
                    self._is_new(at.inner)
        return scope

    def _continued(self, turns: list[OpenTurn], at: Place, scope: int) -> int:
        """Return how many open iterations go on, outermost first; ``scope`` is open inside."""
        level = 0
        while level < len(turns) and turns[level].loop is at.path[level]:
            turn = turns[level]
            if at.is_last(level) and at.is_header:
                if not turn.is_waiting:
                    break
            elif turn.is_waiting:
                self._enter(turn, at.frame, at.orders[level], _variables(at.frame, turn.loop))
            else:
                told = self._told(turns, level, at, scope)
                if told == _RESTARTED and level > 0:
                    # The inner loop began again, so the outer loop is in its next iteration.
                    return level - 1
                if told != _SAME:
                    break
                turn.order = at.orders[level]
            level += 1
        return level

    def _told(self, turns: list[OpenTurn], level: int, at: Place, scope: int) -> int:
        """Tell whether an iteration goes on, a later one has begun, or the loop has begun again."""
        turn, order = turns[level], at.orders[level]
        if not at.is_last(level) and _was_left(turns[level + 1 :], at.frame, at.path[level + 1]):
            return _NEXT
        now = _variables(at.frame, turn.loop)
        counted = _counted(turn.loop, turn.start, now, order)
        if counted is not None:
            if counted == turn.number:
                return _SAME
            return _RESTARTED if counted < turn.number else _NEXT
        if order < turn.order or not _are_same(turn.seen, now):
            return _NEXT
        # Same place, same variables: an iteration calls only once from there. But it goes on while
        # a scope is open that began inside it, such as that of a PyLayer.
        is_new = at.is_last(level) and scope < turn.scope and self._is_new(at.inner)
        return _NEXT if is_new and order == turn.order and not at.is_repeating else _SAME

    def _enter(self, turn: OpenTurn, frame: FrameType, order: int, now: list[Any]) -> None:
        """Note that the body of an iteration runs, and ``now``, the values of its variables."""
        loop = turn.loop
        turn.is_waiting = False
        turn.order = order
        turn.seen = list(map(identity, now))
        turn.number += 1
        shown = _shown(frame, loop)
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


def _without(mark: CallMark | None, tracker: int) -> CallMark | None:
    if mark is None:
        return None
    if mark.tracker == tracker:
        return mark.next_mark
    mark.next_mark = _without(mark.next_mark, tracker)
    return mark


def _path(loops: CodeLoops, innermost: int, hidden_levels: int) -> list[Loop]:
    """Return the loops that an instruction is in, outermost first."""
    path: list[Loop] = []
    while innermost >= 0:
        path.insert(0, loops.loops[innermost])
        innermost = path[0].parent
    return path[hidden_levels:]


def _counted(loop: Loop, start: int | None, now: list[Any], order: int) -> int | None:
    """Return the number that a counter gives the iteration; None if it gives none that fits."""
    if not loop.counts or start is None or not now or type(now[0]) is not int:
        return None
    distance = now[0] - start - loop.step * (0 <= loop.stepped_after <= order)
    return None if distance % loop.step else distance // loop.step + 1


def _was_left(inner: list[OpenTurn], frame: FrameType, loop: Loop) -> bool:
    """Tell whether a loop has ended and begun again since its last iteration."""
    if not inner or inner[0].loop is not loop:
        return False
    return not _are_same(inner[0].around, [_variable(frame, name) for name in loop.around])


def _are_same(seen: list[Identity], now: list[Any]) -> bool:
    return len(seen) == len(now) and all(map(_is_of, seen, now))


def _variables(frame: FrameType, loop: Loop) -> list[Any]:
    """Return the loop's variables, whose values differ between iterations; empty if unknown."""
    values = [_variable(frame, name) for name in loop.names]
    if loop.stepped_after != _NONE and type(values[0]) is not int:
        return []  # the body changes it, so only as a counter it tells iterations apart
    # By identity: an array or tensor may raise when it is compared.
    return values if values and values[0] is not _MISSING else []


@native_twin
def frame_variable(frame: FrameType, name: str, default: Any) -> Any:
    """Return a variable of a frame, or a default if it has none.

    Before Python 3.13 a function's variables could be read only into a copy, which keeps them
    alive. So this returns the default there. The native part reads them one by one.
    """
    if frame.f_code.co_flags & _CO_OPTIMIZED and not _CAN_READ_LOCALS:
        return default
    return frame.f_locals.get(name, default)


def _variable(frame: FrameType, name: str) -> Any:
    return frame_variable(frame, name, _MISSING)


def _shown(frame: FrameType, loop: Loop) -> int | float | str | None:
    """Return the first of the loop's variables that is a number or text."""
    for name in loop.shown:
        value = _variable(frame, name)
        if type(value) in (int, float, str, bool):
            return value  # type: ignore[no-any-return]
    return None
