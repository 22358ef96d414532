"""Records the newest ops in a file that survives the process.

Before each op, the native code writes a row into a ring; after the op, it adds the duration. This
module opens the files and describes the numbers in the rows. Without the native code there is no
flight record, because in Python a row would take as long as the rest of the trace.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import mmap
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
import psutil

from paddle_lab.capture.memory.counters import PaddleCounters
from paddle_lab.capture.native import NATIVE
from paddle_lab.capture.ranks.user_stack import user_stack
from paddle_lab.capture.recorder.recorder import SINKS
from paddle_lab.capture.rows.op_names import OP_NAMES
from paddle_lab.flights.folder import KEPT
from paddle_lab.flights.layout import KEY_KINDS, READING_BYTES, RING_BYTES, ROW, paths_of
from paddle_lab.flights.memory_kills import memory_kill_count
from paddle_lab.notebook_cells import source_line

_MOST_NOTES_BYTES: Final = 4 << 20
_NAME, _STACK, _LAYER = range(len(KEY_KINDS))


class FlightRecord:
    """The flight record of this process; :data:`FLIGHT` is the only instance."""

    def __init__(self) -> None:
        self._process = 0
        self._ring: mmap.mmap | None = None
        self._notes = -1
        self._notes_bytes = 0
        self._title = ""
        self._program = ""
        self._depth = 0
        self._counters = PaddleCounters()

    def enter(self, title: str) -> None:
        """Begin to record the ops of a trace. Inside a nested trace, no ops are recorded."""
        self._depth += 1
        if self._depth > 1:  # then Python code records the ops, and writes no rows
            self.note("nested")
        else:
            self._start(title)

    def enter_program(self, title: str) -> None:
        """Begin to record the ops of a program that is not traced."""
        self._program = title
        self._start(title)

    def leave_program(self) -> None:
        """Note that the program has ended."""
        self._program = ""
        self.note("trace_end")

    def _start(self, title: str) -> None:
        if not KEPT or NATIVE is None:
            return
        try:
            if self._ring is None:
                self._open(*paths_of(*KEPT[0]))
            self._title = title
            self._begin_trace()
            self.read_memory()
        except Exception:  # noqa: BLE001  (for example a full disk; the cell runs anyway)
            self.remove()

    def leave(self) -> None:
        """Note that the trace has ended."""
        self._depth -= 1
        self.note("nested_end" if self._depth else "trace_end")
        if self._program and not self._depth:
            self._start(self._program)

    def note(self, kind: str, **values: object) -> None:
        """Add a line to the notes. Do nothing if this process keeps no flight record."""
        if self._notes >= 0 and os.getpid() == self._process:
            self._write(json.dumps({"kind": kind, "time_ns": time.time_ns(), **values}))

    def _write(self, line: str) -> None:
        data = f"{line}\n".encode("utf-8", "replace")
        self._notes_bytes += len(data)
        with suppress(OSError):
            os.write(self._notes, data)

    @contextmanager
    def running(self, name: str, frame: FrameType) -> Iterator[None]:
        """Record a ``with`` block, which runs no op, as a row with a name."""
        number, recorder = 0, next(iter(SINKS.active), None)
        if NATIVE is not None and recorder is not None:
            state = recorder.thread()
            stack = recorder.stacks.take(frame, state.anchor, state.anchor_stack)
            number = NATIVE.flight_enter(OP_NAMES.key(name), stack, state, frame)
        try:
            yield
        finally:
            if NATIVE is not None:
                NATIVE.flight_leave(number)

    def read_memory(self) -> None:
        """Write how much memory the process has, and how much the machine has left."""
        if self._ring is None:
            return
        now_ns = time.time_ns()
        counters = zip(self._counters.counters(), self._counters.read(now_ns), strict=False)
        told = {
            "time_ns": now_ns,
            "resident_bytes": psutil.Process().memory_info().rss,
            "available_bytes": psutil.virtual_memory().available,
            "allocated_bytes": {
                counter.device: value
                for counter, value in counters
                if counter.name == "allocated" and value > 0
            },
        }
        data = json.dumps(told).encode()[: READING_BYTES - 1]
        self._ring[: len(data) + 1] = data + b"\0"

    @property
    def row_count(self) -> int:
        """How many rows were written since the process began; 0 if there is no record."""
        if self._ring is None:
            return 0
        return int(np.frombuffer(self._ring, ROW, offset=READING_BYTES)["number"].max())

    def running_op(self, thread: int) -> str:
        """Return the name of the innermost op that a thread is running; ``""`` if none."""
        recorder = next(iter(SINKS.active), None)
        state = None if recorder is None else recorder.threads.get(thread)
        if self._ring is None or state is None:
            return ""
        rows = np.frombuffer(self._ring, ROW, offset=READING_BYTES)
        running = rows[(rows["number"] > 0) & (rows["duration_ns"] < 0)]
        running = running[running["thread"] == state.number]
        if not len(running):
            return ""
        return OP_NAMES.name(int(running["name"][running["number"].argmax()]))

    def remove(self) -> None:
        """Stop recording, and remove the files. Used at a normal end, and if writing failed."""
        if NATIVE is None or os.getpid() != self._process:
            return
        NATIVE.flight_close()
        # The file of the notes stays open, because faulthandler writes into it.
        self._ring = None
        for name in KEPT:
            for path in paths_of(*name):
                path.unlink(missing_ok=True)
        KEPT.clear()

    def _open(self, ring_path: Path, notes_path: Path) -> None:
        self._process = os.getpid()
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        self._notes = os.open(notes_path, flags | os.O_APPEND, 0o600)
        descriptor = os.open(ring_path, flags, 0o600)
        try:
            # Write the whole file now. Otherwise a full disk would kill the process at a later row.
            os.write(descriptor, bytes(RING_BYTES))
            self._ring = mmap.mmap(descriptor, RING_BYTES)
        finally:
            os.close(descriptor)
        assert NATIVE is not None
        NATIVE.flight_open(self._ring, READING_BYTES, self._describe)
        self._note_process()
        self._catch_signals()
        atexit.register(self.remove)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave_to_parent)

    def _note_process(self) -> None:
        self._notes_bytes = 0
        own = psutil.Process()
        self.note(
            "process", process=own.pid, started_s=own.create_time(), perf_ns=time.perf_counter_ns(),
            memory_kills=memory_kill_count(),
        )  # fmt: skip

    def _begin_trace(self) -> None:
        assert NATIVE is not None
        self.note("trace", after=NATIVE.flight_forget(), title=self._title)

    def _catch_signals(self) -> None:
        """Let ``faulthandler`` write Python's stacks when a signal ends the process.

        It must be enabled after the import of Paddle, so that Paddle's handler runs as well. If the
        user has already enabled ``faulthandler``, nothing is changed.
        """
        if not faulthandler.is_enabled():
            faulthandler.enable(self._notes)
            if hasattr(faulthandler, "register"):
                faulthandler.register(signal.SIGTERM, self._notes, all_threads=False, chain=True)

    def _leave_to_parent(self) -> None:
        """Record nothing in a forked process. ``faulthandler`` writes to its stderr instead."""
        if NATIVE is not None:
            NATIVE.flight_close()
        with suppress(OSError):
            os.dup2(2, self._notes)
        self._ring, self._notes = None, -1
        KEPT.clear()

    def _describe(self, kind: int, key: int, frame: FrameType) -> None:
        """Note the meaning of a number, when a row uses the number for the first time."""
        try:
            if self._notes_bytes > _MOST_NOTES_BYTES:
                os.ftruncate(self._notes, 0)
                self._note_process()
                self._begin_trace()
            what = json.dumps(self._described(kind, key, frame))
            self._write(f'{{"kind": "{KEY_KINDS[kind]}", "key": {key}, "what": {what}}}')
        except Exception:  # noqa: BLE001
            self.remove()

    def _described(self, kind: int, key: int, frame: FrameType) -> Any:
        if kind == _NAME:
            return OP_NAMES.name(key)
        recorder = SINKS.active[0]
        if kind == _LAYER:
            # A layer is described when it is met, so its row is one of the last.
            rows = reversed(recorder.layers.rows)
            path, kind_name = next(row[1:3] for row in rows if row[0] == key)
            return path or kind_name
        cells = recorder.cells
        return [
            (file, line, function, cells.number(file) if cells else -1, source_line(file, line))
            for file, line, function in user_stack(frame)
        ]


FLIGHT: Final = FlightRecord()
