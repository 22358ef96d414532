"""Watches a traced cell from a thread, and tells where the cell's threads are if no op runs."""

from __future__ import annotations

import dis
import os
import re
import threading
import time
import warnings
from _thread import LockType, RLock
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import getattr_static
from pathlib import Path
from types import FrameType
from typing import Final

import psutil

from paddle_lab.capture.evidence.events.loader_samples import SAMPLES
from paddle_lab.capture.flight.flight_record import FLIGHT
from paddle_lab.capture.ranks.user_stack import is_in_loader, lines_of, user_frames
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.running_layer import thread_frame
from paddle_lab.capture.turns.variables import frame_variable
from paddle_lab.notebook_cells import source_line
from paddle_lab.words import say

_LOOK_S: Final = 0.5
_MOST_LINES: Final = 4
_IDLE_SHARE: Final = 0.1
"""A thread that uses a smaller share of a core counts as waiting."""
_LIBRARY: Final = os.path.join(os.path.dirname(threading.__file__), "")
"""The folder of the standard library."""
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
Place = tuple[str, int, str]
"""File, line and function."""


@dataclass(frozen=True)
class StalledThread:
    """Which lines a thread is running, and what the thread does there."""

    name: str
    stack: tuple[Place, ...]
    """The user's lines, the innermost first."""
    state: str
    """``"op"``, ``"loader"``, ``"lock"``, ``"library"``, ``"waits"``, ``"loop"`` or
    ``"computes"``."""
    detail: str = ""
    """The op, the variable with the lock, the function that waits, or the lines of the loop."""
    workers: tuple[tuple[int, int, tuple[Place, ...]], ...] = ()
    """The ``DataLoader`` workers that are loading: number, process, and the user's lines."""


class StallWatch:
    """Looks twice a second whether ops have run, and notes the memory in the flight record.

    Parameters
    ----------
    op_count
        Returns how many ops have run; ``None`` while ops are not recorded.
    tell
        Called with the seconds without an op, and with the threads that run the user's code. When
        the cell goes on, it is called with no threads.
    """

    stall_s: float = 5.0
    """The seconds without an op after which a cell counts as stalled."""

    def __init__(
        self,
        op_count: Callable[[], int | None],
        tell: Callable[[float, list[StalledThread]], object],
    ) -> None:
        self._op_count = op_count
        self._tell = tell
        self._look = ThreadLook()
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="paddle_lab", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching. Before this returns, ``tell`` is called to remove what it showed."""
        self._has_ended.set()
        self._thread.join(timeout=2 * _LOOK_S)

    def _watch(self) -> None:
        count: int | None = None
        moved_s, is_told = time.monotonic(), False
        while not self._has_ended.wait(_LOOK_S):
            try:
                FLIGHT.read_memory()
                now, now_s = self._op_count(), time.monotonic()
                if now is None or now != count:
                    count, moved_s = now, now_s
                    self._look = ThreadLook()
                    if is_told:
                        is_told = False
                        self._tell(0.0, [])
                    continue
                if now_s - moved_s < self.stall_s - 2 * _LOOK_S:
                    continue
                threads = self._threads()
                if now_s - moved_s >= self.stall_s:
                    is_told = True
                    self._tell(now_s - moved_s, threads)
            except Exception as fault:  # noqa: BLE001  (the cell goes on without being watched)
                told = say("notices.stalls.failed", fault=described(fault))
                warnings.warn(told, RuntimeWarning, stacklevel=1)
                break
        if is_told:
            self._tell(0.0, [])

    def _threads(self) -> list[StalledThread]:
        others = [one for one in threading.enumerate() if one is not self._thread]
        return [found for one in others if (found := self._look.at(one)) is not None]


class ThreadLook:
    """Tells what a thread does. Two looks are needed to tell whether it uses the processor."""

    def __init__(self) -> None:
        self._cpu_s: dict[int, tuple[float, float]] = {}
        """For each thread: the time of the last look, and the CPU time used until then."""

    def at(self, thread: threading.Thread) -> StalledThread | None:
        """Return what a thread does; ``None`` if it runs no code of the user."""
        frame = None if thread.ident is None else thread_frame(thread.ident)
        frames = user_frames(frame)[:_MOST_LINES]
        if frame is None or not frames:
            return None
        share = self._busy_share(thread.native_id or 0)
        state, detail = _state(frame, frames[0], share, thread.ident or 0)
        workers = SAMPLES.loading() if state == "loader" else ()
        return StalledThread(thread.name, lines_of(frames), state, detail, workers)

    def _busy_share(self, thread: int) -> float:
        """Return for which share of the time since the last look a thread has used a core.

        Time in which it waited for a core counts, too: a busy machine must not make it look idle.
        """
        now_s, used_s = time.monotonic(), _busy_s(thread)
        before_s, before_used_s = self._cpu_s.get(thread, (now_s, used_s))
        self._cpu_s[thread] = now_s, used_s
        return (used_s - before_used_s) / (now_s - before_s) if now_s > before_s else 1.0


def _busy_s(thread: int) -> float:
    """Return for how long a thread has run; on Linux, also for how long it waited for a core."""
    with suppress(OSError, ValueError):
        ran_ns, waited_ns, _ = Path(f"/proc/self/task/{thread}/schedstat").read_text().split()
        return (int(ran_ns) + int(waited_ns)) / 1e9
    used = [one for one in psutil.Process().threads() if one.id == thread]
    return sum((one.user_time + one.system_time for one in used), 0.0)


def _state(frame: FrameType, own: FrameType, share: float, thread: int) -> tuple[str, str]:
    """Return what a thread does, and a detail. ``own`` is the innermost frame of user code."""
    is_busy = share > _IDLE_SHARE
    running = FLIGHT.running_op(thread)
    # A user's hook in a backward call may wait. Then the thread is idle, in a frame of user code.
    if running and (is_busy or frame is not own):
        return "op", running
    if is_in_loader(frame):
        return "loader", ""
    if is_busy:
        lines = _loop_lines(frame) if frame is own else None
        return ("computes", "") if lines is None else ("loop", f"{lines[0]}–{lines[1]}")
    if called := _library_call(frame):
        return "library", called
    for name in _NAME.findall(source_line(own.f_code.co_filename, own.f_lineno)):
        first, *path = name.split(".")
        value = frame_variable(own, first, own.f_globals.get(first))
        for at, attribute in enumerate([*path, ""], start=1):
            if isinstance(value, (LockType, RLock)):
                return "lock", ".".join([first, *path][:at])
            value = getattr_static(value, attribute, None)  # runs no code of the user
    return "waits", ""


def _library_call(at: FrameType | None) -> str:
    """Return the function of Python's library in which a frame is, as other code called it."""
    called = ""
    while at and (file := at.f_code.co_filename).startswith(_LIBRARY) and "-packages" not in file:
        called = getattr(at.f_code, "co_qualname", at.f_code.co_name)
        at = at.f_back
    return called


def _loop_lines(frame: FrameType) -> tuple[int, int] | None:
    """Return the first and last line of a loop, if the frame is at the end of the loop.

    Python switches threads only at the end of a loop's body, and where a function begins. So a loop
    without calls is always seen at the end of its body.
    """
    at = frame.f_lasti
    found = [one for one in dis.get_instructions(frame.f_code) if one.offset == at]
    if not found or "JUMP" not in found[0].opname or not found[0].argval < at:
        return None
    start = found[0].argval
    lines = [line for first, end, line in frame.f_code.co_lines() if first <= at and end > start]
    known = [line for line in lines if line is not None]
    return (min(known), max(known)) if known else None
