"""A thread that records where the main thread is while the rank makes no progress."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.flight.stalls import StalledThread, ThreadLook
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.flights.folder import process_runs

_LOOK_S: Final = 0.5
_STILL_S: Final = 1.0


class Watchdog:
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

    def __init__(self, events: EventFile, op_count: Callable[[], int], launcher: int) -> None:
        self._events = events
        self._op_count = op_count
        self._launcher = launcher
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="paddle_lab watchdog", daemon=True)

    def open(self) -> None:
        """Start checking."""
        self._thread.start()

    def close(self) -> None:
        """Stop checking."""
        self._has_ended.set()

    def _watch(self) -> None:
        counts, moved_s = (-1, -1), time.monotonic()
        called_s, next_s = moved_s, _STILL_S
        look = ThreadLook()
        told: StalledThread | None = None
        while not self._has_ended.wait(_LOOK_S):
            if self._launcher and not process_runs(self._launcher):
                os._exit(1)
            FLIGHT.read_memory()
            now, now_s = (self._op_count(), self._events.call_count), time.monotonic()
            if now[1] != counts[1]:
                called_s, next_s = now_s, _STILL_S
            if now != counts:
                counts, moved_s = now, now_s
                if told is not None:
                    self._events.note("moves")
                told = None
                if now_s - called_s >= next_s:  # it runs ops, but no collective
                    next_s *= 2
                    self._note("busy", look.at(threading.main_thread()), called_s)
            elif now_s - moved_s >= _STILL_S:
                seen = look.at(threading.main_thread())
                if seen != told:
                    told = seen
                    self._note("still", seen, moved_s)

    def _note(self, kind: str, seen: StalledThread | None, since_s: float) -> None:
        if seen is None:
            return
        since_ns = time.time_ns() - int((time.monotonic() - since_s) * 1e9)
        self._events.note(
            kind, since_ns=since_ns, stack=seen.stack, state=seen.state, detail=seen.detail,
            workers=[stack for _, _, stack in seen.workers],
        )  # fmt: skip
