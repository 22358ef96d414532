"""A thread that records where the main thread is while the rank makes no progress."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

from paddle_lab.capture.flight.stalls import StalledThread, StallWatch
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.flights.folder import process_runs

_STILL_S: Final = 1.0
_BLOCKED: Final = ("lock", "library")
"""The states in which a thread may wait for another one."""


class Watchdog(StallWatch):
    """Checks twice a second, also during collectives, because Paddle releases the GIL in them.

    Parameters
    ----------
    events
        The file of this rank.
    op_count
        Returns how many ops have run.
    launcher
        The process that started the run; 0 for none. If it ends, this rank ends, too.
    """

    stall_s = _STILL_S

    def __init__(self, events: EventFile, op_count: Callable[[], int], launcher: int) -> None:
        self._events = events
        self._launcher = launcher
        self._seen = -1, -1
        self._called_s, self._next_s = time.monotonic(), _STILL_S
        self._told: list[StalledThread] = []
        super().__init__(lambda: self._progress(op_count()), self._write)

    def _progress(self, ops: int) -> int:
        """Return a number that grows with each op and collective."""
        if self._launcher and not process_runs(self._launcher):
            os._exit(1)
        now, now_s = (ops, self._events.call_count), time.monotonic()
        if now[1] != self._seen[1]:
            self._called_s, self._next_s = now_s, _STILL_S
        if now != self._seen and now_s - self._called_s >= self._next_s:
            self._next_s *= 2  # it runs ops, but no collective
            self._note("busy", self._threads(), now_s - self._called_s)
        self._seen = now
        return sum(now)

    def _threads(self) -> list[StalledThread]:
        seen = self._look.at(threading.main_thread())
        return [] if seen is None else [seen]

    def _write(self, seconds: float, threads: list[StalledThread]) -> None:
        if not seconds:
            self._events.note("moves")
        elif threads != self._told:
            self._note("still", threads, seconds)
        self._told = threads

    def _note(self, kind: str, threads: list[StalledThread], seconds: float) -> None:
        for seen in threads:
            self._events.note(
                kind, since_ns=time.time_ns() - int(seconds * 1e9), stack=seen.stack,
                state=seen.state, detail=seen.detail,
                workers=[stack for _, _, stack in seen.workers],
                threads=[
                    (one.name, one.stack[0])
                    for thread in threading.enumerate()
                    if thread is not threading.main_thread() and seen.state in _BLOCKED
                    if (one := self._look.at(thread)) is not None
                ],
            )  # fmt: skip
