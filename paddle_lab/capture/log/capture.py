"""What a trace with Paddle's log records: the text, and the clocks that date its entries."""

from __future__ import annotations

import datetime
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.log.glog import LogRequest, glog
from paddle_lab.capture.recorder.faults import described
from paddle_lab.capture.rows.counter import NEVER
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.collector import Forgotten
    from paddle_lab.capture.limit.kept_ops import KeptOps

LARGEST_BYTES: Final = 32 << 20
"""A trace keeps at most this much of the log."""
_SETTLE_OPS: Final = 200
"""After this many ops the size is checked."""


class LogCapture:
    """The log of one trace.

    Parameters
    ----------
    level
        The log level while the trace records; ``None`` until a region sets one.
    """

    feature = "log"

    def __init__(self, level: int | None) -> None:
        self.text = b""
        self.year = 0
        self.offset_ns = 0
        """Wall time minus ``perf_counter_ns``."""
        self.changes: list[tuple[int, int]] = []
        """When the level changed, and the new level."""
        self.regions: list[tuple[int, int]] = []
        """When the regions whose backward is logged began and ended, by ``perf_counter_ns``."""
        self.notices: list[str] = []
        self.level = level
        self._start = 0
        self._is_full = False
        self._requests: list[LogRequest] = []
        self._lock = threading.RLock()

    @property
    def size(self) -> int:
        """How many bytes of the log there are so far."""
        return glog().size - self._start if self._requests else 0

    def open(self) -> None:
        """Start to record, if the trace has a level."""
        if self.level is not None:
            self.enter(self.level)

    @contextmanager
    def inside(self, level: int) -> Iterator[None]:
        """Set a log level for a ``with`` block, and for grad nodes that are made in the block."""
        request = self.enter(level)
        if request is None:
            yield
            return
        start_ns = time.perf_counter_ns()
        try:
            glog().begin_backward(level)
            try:
                yield
            finally:
                glog().end_backward()
        finally:
            self.regions.append((start_ns, time.perf_counter_ns()))
            self.leave(request)

    def enter(self, level: int) -> LogRequest | None:
        """Set a log level until :meth:`leave`; the log is recorded from now on."""
        if not DOOR.has(self.feature):
            for notice in DOOR.notices({self.feature}) if self.level is None else ():
                self._tell(notice)
            return None
        try:
            with self._lock:
                return None if self._is_full else self._enter(level)
        except Exception as fault:  # noqa: BLE001  (the user's code runs without a log)
            self._tell(DOOR.failure_notice(self.feature, described(fault)))
            return None

    def _enter(self, level: int) -> LogRequest:
        log = glog()
        if not self._requests:
            self.year = datetime.datetime.now().astimezone().year
            self.offset_ns = _clock_offset_ns()
            kept = LogRequest(None)
            self._requests.append(kept)
            log.add(kept)
            self._start = log.size
        request = LogRequest(level)
        self._requests.append(request)
        log.add(request)
        return request

    def _tell(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)

    def leave(self, request: LogRequest | None) -> None:
        """End what :meth:`enter` began."""
        with self._lock:
            if request in self._requests:
                self._requests.remove(request)
                glog().remove(request)
            self.settle(0)

    def settle(self, _ops: int) -> int:
        """Stop at the size limit. Return after how many ops to call this again."""
        with self._lock:
            if self.size > LARGEST_BYTES:
                self._is_full = True
                for request in self._requests[1:]:
                    glog().remove(request)
                del self._requests[1:]
            # Each call also stops Paddle's profiler and reads its events, if memory is recorded.
            return _SETTLE_OPS if self._requests else NEVER

    def close(self) -> None:
        """Restore the level, and keep what was written; a second call does no harm."""
        with self._lock:
            if not self._requests:
                return
            log = glog()
            try:
                for request in self._requests[1:]:
                    log.remove(request)
                self.changes = list(log.changes)
                if log.file is not None:
                    size = min(self.size, LARGEST_BYTES + 1)
                    self.text = os.pread(log.file.fileno(), size, self._start)
            finally:
                log.remove(self._requests[0])
                self._requests.clear()
        if self._is_full or len(self.text) > LARGEST_BYTES:
            # The last entry may be incomplete.
            self.text = self.text[: self.text.rfind(b"\n", 0, LARGEST_BYTES) + 1]
            self.notices.append(say("notices.log.full", megabytes=LARGEST_BYTES >> 20))
        if abs(_clock_offset_ns() - self.offset_ns) > _CLOCK_STEP_NS:
            self.notices.append(say("notices.log.clock"))

    def stop(self) -> None:
        """Stop recording before the traced code ends."""
        self.close()

    def forget(self, _kept: KeptOps, _gone: Forgotten) -> None:
        """Do nothing. Entries of ops that the trace does not keep stay, without an op."""


_CLOCK_STEP_NS: Final = 20_000


def _clock_offset_ns() -> int:
    """Return wall time minus ``perf_counter_ns``, from the pair of readings that were closest."""
    pairs = []
    for _ in range(8):
        before, wall, after = time.perf_counter_ns(), time.time_ns(), time.perf_counter_ns()
        pairs.append((after - before, wall - (before + after) // 2))
    return min(pairs)[1]
