"""Finds the lines of a dataset that take the most time, by sampling.

Each worker of a ``DataLoader`` is a forked process. A thread in the worker reads fifty times a
second which line is running, and writes it into memory that the notebook's process shares. Without
workers, a thread samples this process.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from paddle_lab.capture.ranks.user_stack import Line, lines_of, user_frames
from paddle_lab.capture.running_layer import thread_frame

_LOOK_S: Final = 0.02
_WRITE_S: Final = 0.2
_START_S: Final = 5.0
_FRESH_S: Final = 1.0
_SLOTS: Final = 32
_SLOT_BYTES: Final = 4096
_MOST_LINES: Final = 8
_FETCHER: Final = os.path.join("paddle", "io", "dataloader", "fetcher.py")


class LoaderSamples:
    """The samples of this process and its workers; :data:`SAMPLES` is the only instance."""

    def __init__(self) -> None:
        self._memory: mmap.mmap | None = None
        self._is_forking = False
        self._waiting = 0
        self._lines: Counter[Line] = Counter()
        self._thread: threading.Thread | None = None

    def clear(self) -> None:
        """Drop all samples. This is called when a trace begins."""
        self._lines.clear()
        if self._memory is not None:
            self._memory[:] = bytes(len(self._memory))

    @contextmanager
    def forking(self) -> Iterator[None]:
        """Sample the workers that are forked in a ``with`` block."""
        if self._memory is None and hasattr(os, "register_at_fork"):
            with suppress(OSError):  # without memory for samples, the loader works as without us
                self._memory = mmap.mmap(-1, _SLOTS * _SLOT_BYTES)
                os.register_at_fork(after_in_child=self._begin_in_worker)
        self._is_forking = True
        try:
            yield
        finally:
            self._is_forking = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Sample this process while a ``with`` block waits for a batch."""
        self._waiting += 1
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self._sample_here, name="paddle_lab", daemon=True
            )
            with suppress(RuntimeError):  # no thread can start: there are no samples
                self._thread.start()
        try:
            yield
        finally:
            self._waiting -= 1

    def workers(self) -> dict[int, dict[str, Any]]:
        """Return what each worker wrote last: its counted ``lines``, and its current ``stack``."""
        found = {}
        for number in range(_SLOTS if self._memory is not None else 0):
            assert self._memory is not None
            text = self._memory[number * _SLOT_BYTES : (number + 1) * _SLOT_BYTES].split(b"\0", 1)[
                0
            ]
            try:
                found[number] = json.loads(text)
            except ValueError:  # the worker has written nothing yet, or is writing now
                continue
        return found

    def loading(self) -> tuple[tuple[int, int, tuple[Line, ...]], ...]:
        """Return the workers that are loading data: number, process, and lines of user code."""
        return tuple(
            (number, one["process"], tuple((file, line, name) for file, line, name in one["stack"]))
            for number, one in self.workers().items()
            if time.time() - one["time_s"] < _FRESH_S
        )

    def slowest(self) -> tuple[str, int, float, int] | tuple[()]:
        """Return the line with the most samples: file, line, its share, number of all samples."""
        lines = Counter(self._lines)
        for worker in self.workers().values():
            for file, line, function, count in worker["lines"]:
                lines[file, line, function] += count
        if not lines:
            return ()
        (file, line, _), count = lines.most_common(1)[0]
        total = sum(lines.values())
        return file, line, count / total, total

    def _sample_here(self) -> None:
        """Sample this process, until it has not waited for a batch for a second."""
        last_s = time.monotonic()
        while time.monotonic() - last_s < 1.0:
            time.sleep(_LOOK_S)
            if self._waiting:
                last_s = time.monotonic()
                for thread in threading.enumerate():
                    stack = _dataset_stack(thread.ident or 0)
                    if stack:
                        self._lines[stack[0]] += 1

    def _begin_in_worker(self) -> None:
        if self._is_forking:
            main = threading.get_ident()
            threading.Thread(target=self._sample_worker, args=(main,), daemon=True).start()

    def _sample_worker(self, main: int) -> None:
        info, begun_s = None, time.monotonic()
        ask = sys.modules["paddle.io"].get_worker_info
        while info is None and time.monotonic() - begun_s < _START_S:
            time.sleep(_LOOK_S)
            info = ask()
        if info is None or self._memory is None:
            return
        start = info.id % _SLOTS * _SLOT_BYTES
        lines: Counter[Line] = Counter()
        written_s = 0.0
        while True:
            stack = _dataset_stack(main)
            if stack:
                lines[stack[0]] += 1
            if stack and time.monotonic() - written_s > _WRITE_S:
                written_s = time.monotonic()
                most = [(*line, count) for line, count in lines.most_common(_MOST_LINES)]
                told = {
                    "process": os.getpid(),
                    "time_s": time.time(),
                    "lines": most,
                    "stack": stack[:4],
                }
                data = json.dumps(told).encode()
                if len(data) < _SLOT_BYTES:
                    self._memory[start : start + len(data) + 1] = data + b"\0"
            time.sleep(_LOOK_S)


def _dataset_stack(thread: int) -> tuple[Line, ...]:
    """Return the user's lines that are loading data in a thread, the innermost first."""
    frame = innermost = thread_frame(thread)
    while frame is not None and not frame.f_code.co_filename.endswith(_FETCHER):
        frame = frame.f_back
    if frame is None:
        return ()
    outside = {id(one) for one in user_frames(frame)}
    return lines_of([one for one in user_frames(innermost) if id(one) not in outside])


SAMPLES: Final = LoaderSamples()
