"""A thread that records where the main thread is while the rank makes no progress."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import psutil

from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.ranks.event_file import EventFile
from paddle_lab.capture.ranks.user_stack import is_in_loader, user_stack
from paddle_lab.capture.running_layer import thread_frame

_LOOK_S: Final = 0.5
_STILL_S: Final = 1.0


class Watchdog:
    """Checks twice a second. This works in collectives, because Paddle releases the GIL there.

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
        count, moved_s, told = -1, time.monotonic(), None
        while not self._has_ended.wait(_LOOK_S):
            if self._launcher and not _is_alive(self._launcher):
                os._exit(1)
            FLIGHT.read_memory()
            now_count, now_s = self._op_count() + self._events.call_count, time.monotonic()
            if now_count != count:
                if told is not None:
                    self._events.note("moves")
                count, moved_s, told = now_count, now_s, None
                continue
            if now_s - moved_s < _STILL_S:
                continue
            frame = thread_frame(threading.main_thread().ident or 0)
            seen = user_stack(frame), is_in_loader(frame)
            del frame
            if seen != told:
                told = seen
                still_ns = time.time_ns() - int((now_s - moved_s) * 1e9)
                self._events.note("still", since_ns=still_ns, stack=seen[0], in_loader=seen[1])


def _is_alive(process: int) -> bool:
    """Tell whether a process is running. A zombie process is not."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    return False
