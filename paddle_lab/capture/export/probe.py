"""Finds everything that prevents an export, in forks that may crash or hang."""

from __future__ import annotations

import mmap
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.export import guards
from paddle_lab.capture.export.aside import Tell, aside
from paddle_lab.capture.export.causes import (
    BRANCHES,
    LOOP_EXIT,
    NEW_PARAMETER,
    NUMPY,
    OTHER,
    UNUSED_INPUT,
    Fault,
    fault_of,
    is_library,
    user_place,
)
from paddle_lab.capture.export.guarded_source import GuardedTranslation, Place

CRASH, ENDLESS, UNFINISHED = "crash", "endless-loop", "unfinished"
_MOST_RUNS = 40
_MOST_SECONDS = 120


class EndlessLoop(TypeError):  # noqa: N818  (the name is looked for)
    """Paddle would trace a loop endlessly."""


class Probe:
    """Exports that continue after each fault, repeated until one finds nothing more.

    Parameters
    ----------
    export
        Exports the model to a temporary place.
    stand_ins
        Substitutes for the values of an eager run of the same translated code.
    translation
        The translation that added the guards; it adds more while code is translated.
    """

    def __init__(
        self,
        export: Callable[[], object],
        stand_ins: guards.StandIns,
        translation: GuardedTranslation,
    ) -> None:
        self._export = export
        self._stand_ins = stand_ins
        self._translation = translation
        self._forced: set[int] = set()
        self._entered = mmap.mmap(-1, 8)
        self._tell: Tell
        self._is_altered = False
        self._made: Place | None = None
        self._read_by_numpy: list[Place] = []
        self.misread: list[Fault] = []
        """Lines where NumPy reads a tensor without values, if the export works all the same."""
        self._static: guards.Static

    def run(self) -> list[Fault]:
        """Return all faults, sorted by line; empty if the export works."""
        found: dict[tuple[str, int], Fault] = {}
        deadline = time.monotonic() + _MOST_SECONDS
        for _ in range(_MOST_RUNS):
            told, status = self._forked(deadline)
            faults = [one for one in told if isinstance(one, Fault)]
            restart = next((one for one in told if isinstance(one, int)), -1)
            last = [one for one in told if isinstance(one, dict)]
            if status or (last and not found and not faults and restart < 0):
                faults += self._ending(status, last)
            for fault in faults:
                found.setdefault((fault.file, fault.line), fault)
            guard = self._guard_entered() if status else restart
            if guard < 0 or guard in self._forced or not self._stand_ins.get(guard):
                break
            self._forced.add(guard)
        if found and not self._is_refused(deadline):
            self.misread = [fault for fault in found.values() if fault.kind == NUMPY]
            return []
        inner = [place for place, fault in found.items() if fault.kind == BRANCHES]
        placed = [
            fault for fault in found.values() if fault.line and not self._follows(fault, inner)
        ]
        return sorted(placed or found.values(), key=itemgetter(1, 2))

    def _follows(self, fault: Fault, found: Iterable[tuple[str, int]]) -> bool:
        """Tell whether the branches of an ``if`` differ only because of an ``if`` inside them."""
        end = self._translation.ifs.get(Place(fault.file, fault.line), 0)
        return fault.kind == BRANCHES and any(
            file == fault.file and fault.line < line <= end for file, line in found
        )

    def _is_refused(self, deadline: float) -> bool:
        """Tell whether Paddle also refuses the export without our guards."""
        told, status = self._forked(deadline, goes_on=False)
        return bool(told or status)

    def _ending(self, status: int, last: list[dict[str, Any]]) -> list[Fault]:
        if last:
            return [last[0]["fault"]]
        guard = self._guard_entered()
        places = self._translation.places
        place = places[guard] if 0 <= guard < len(places) else Place("", 0)
        name = UNFINISHED if status == signal.SIGKILL else CRASH
        return [Fault(name, *place, signal.Signals(status & 127).name)]

    def _guard_entered(self) -> int:
        number: int = struct.unpack("q", self._entered[:8])[0]
        return number

    def _forked(self, deadline: float, *, goes_on: bool = True) -> tuple[list[Any], int]:
        run = self._go_on if goes_on else self._export_plainly
        return aside(run, seconds=max(0.0, deadline - time.monotonic()))

    def _enter(self, guard: int) -> None:
        self._entered[:8] = struct.pack("q", guard)

    # The methods below run in the fork.

    def _go_on(self, tell: Tell) -> None:
        self._enter(-1)
        DOOR.static_value.__iter__ = _iterated
        DOOR.static_value.__array__ = lambda value, *_, **__: self._on_array(value)
        DOOR.patch("refuse_view", lambda _: self._on_view).apply()
        DOOR.patch("create_parameter", self._noting_parameters).apply()
        self._tell, self._is_altered = tell, bool(self._forced)
        static = guards.Static(self._stand_ins, self._forced, self._blame, self._enter)
        self._static = static
        guards.run = static
        try:
            self._export()
        except BaseException as error:  # noqa: BLE001
            if static.restart >= 0:
                tell(static.restart)
            elif not self._is_altered:
                fault = fault_of(error, Place("", 0))
                tell({"fault": self._blamed(fault, static.unset)})

    def _export_plainly(self, tell: Tell) -> None:
        DOOR.static_value.__iter__ = _iterated
        try:
            self._export()
        except BaseException:  # noqa: BLE001
            tell({})

    def _blamed(self, fault: Fault, unset: int) -> Fault:
        """Return a fault that Paddle meets after the code has run, with the line that caused it."""
        if fault.kind == NEW_PARAMETER and self._made:
            return fault._replace(file=self._made.file, line=self._made.line)
        if fault.kind == UNUSED_INPUT and unset >= 0:
            place = self._translation.places[unset]
            return Fault(BRANCHES, *self._translation.exits.get(place, place), fault.said)
        if fault.kind == UNUSED_INPUT and self._translation.returns:
            place = self._translation.returns[0]
            kind = LOOP_EXIT if place in self._translation.exits.values() else BRANCHES
            return Fault(kind, *place, fault.said)
        return fault

    def _blame(self, error: Exception, guard: int) -> None:
        if isinstance(error, guards.Misread) and guard in self._translation.unread:
            return
        self._is_altered = True
        fault = fault_of(error, self._translation.places[guard])
        if fault.kind == OTHER and Place(fault.file, fault.line) in self._read_by_numpy:
            fault = fault._replace(kind=NUMPY)
        if fault.kind == LOOP_EXIT:
            loop = self._translation.places[guard]
            fault = fault._replace(line=self._translation.exits.get(loop, loop).line)
        if "UndefinedVar" in fault.said:
            # Paddle also translates the functions of libraries, which have branches of their own.
            places = map(self._translation.places.__getitem__, reversed(self._static.undefined))
            place = next((place for place in places if not is_library(place.file)), None)
            fault = Fault(BRANCHES, *place, fault.said) if place else fault
        self._tell(fault)

    def _noting_parameters(self, create: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*arguments: Any, **named: Any) -> Any:
            stack = traceback.extract_stack(sys._getframe(1))
            place = user_place([(one.filename, one.lineno or 0) for one in stack])
            self._made = self._made or place
            if self._is_altered and place:
                self._tell(Fault(NEW_PARAMETER, *place, ""))
            return create(*arguments, **named)

        return noting

    def _on_array(self, value: Any) -> Any:
        """Note where NumPy reads a tensor. The array is the one that it would make itself."""
        stack = traceback.extract_stack(sys._getframe(1))
        place = user_place([(one.filename, one.lineno or 0) for one in stack])
        self._read_by_numpy += [place] if place else []
        self._static.numpy_reads += 1
        array = np.empty((), object)
        array[()] = value
        return array

    def _on_view(self, op: Any) -> None:
        lines = [line.strip().split(", ") for line in op.callstack[::2]]
        frames = [(line[0][6:-1], int(line[1][5:])) for line in lines]
        place = user_place(frames) or Place("", 0)
        self._tell(Fault("view-in-place", *place, op.name()))


def _iterated(value: Any) -> Any:
    if not value.shape or value.shape[0] < 0:
        raise EndlessLoop("EndlessLoop")
    return iter([value[index] for index in range(value.shape[0])])
