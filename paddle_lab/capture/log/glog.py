"""Paddle's log: its level, and the file to which it is written while traces record it.

Paddle writes its log with glog, which can write to a file instead of descriptor 2. So other output
on descriptor 2 is not touched: the output of subprocesses, a crash report, and glog's own warnings.
Each entry is written at once. The file is removed as soon as it is open, so it never stays behind.

glog's flags are read and set in Paddle's library itself, because Paddle's Python functions cannot
read them, and the level that the user has set must be restored.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from pathlib import Path
from time import perf_counter_ns
from typing import BinaryIO, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.words import say

_WARNING, _FATAL = 1, 3
_UNBUFFERED: Final = -1


class LogRequest:
    """The log level that one trace or region wants."""

    def __init__(self, level: int | None) -> None:
        self.level = level
        """The level to set; ``None`` if the trace only needs the log in the file."""


class Glog:
    """The flags of glog in Paddle's library.

    Raises
    ------
    OSError, ValueError, AttributeError
        If Paddle's library has no such symbols.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL(DOOR.library.__file__)
        self._level = ctypes.c_int.in_dll(library, "_ZN3fLI7FLAGS_vE")
        self._is_to_stderr = ctypes.c_bool.in_dll(library, "_ZN3fLB17FLAGS_logtostderrE")
        self._stderr_threshold = ctypes.c_int.in_dll(library, "_ZN3fLI21FLAGS_stderrthresholdE")
        self._buffered_level = ctypes.c_int.in_dll(library, "_ZN3fLI17FLAGS_logbuflevelE")
        self._set_destination = library._ZN6google17SetLogDestinationEiPKc
        self._set_destination.argtypes = [ctypes.c_int, ctypes.c_char_p]
        self._set_destination.restype = None
        # These functions write an entry of our own, because glog creates the file with the first
        # entry.
        self._begin_entry = library._ZN6google10LogMessageC1EPKci
        self._begin_entry.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self._end_entry = library._ZN6google10LogMessageD1Ev
        self._end_entry.argtypes = [ctypes.c_void_p]
        self._requests: list[LogRequest] = []
        self._backward_levels: list[int] = []
        self.file: BinaryIO | None = None
        """The file with the log; ``None`` if no log is being written."""
        self._before: tuple[bool, int, int] | None = None
        self._own_level = self._level_before = 0
        self.changes: list[tuple[int, int]] = []
        """Times (``perf_counter_ns``) and new levels of all changes since the first request."""

    @property
    def size(self) -> int:
        """The file's size, in bytes."""
        return 0 if self.file is None else os.fstat(self.file.fileno()).st_size

    def add(self, request: LogRequest) -> None:
        """Apply a request. The newest one with a level sets the level."""
        if self._before is None:
            self._redirect()
        self._requests.append(request)
        self._set_level()

    def remove(self, request: LogRequest) -> None:
        """Withdraw a request. After the last request, everything is as before the first one."""
        if request not in self._requests:
            return
        self._requests.remove(request)
        self._set_level()
        if not self._requests:
            self._restore()

    def begin_backward(self, level: int) -> None:
        """Make Paddle set a level whenever a grad node runs that is made from now on."""
        self._backward_levels.append(level)
        DOOR.start_backward_log(level)

    def end_backward(self) -> None:
        """End the newest :meth:`begin_backward`; the previous one applies again."""
        self._backward_levels.pop()
        DOOR.stop_backward_log()
        if self._backward_levels:
            DOOR.start_backward_log(self._backward_levels[-1])

    def _set_level(self) -> None:
        levels = [one.level for one in self._requests if one.level is not None]
        if self._level.value != self._own_level:
            self._level_before = self._level.value  # the user's code has set the level
        self._own_level = self._level.value = levels[-1] if levels else self._level_before
        self.changes.append((perf_counter_ns(), self._own_level))

    def _redirect(self) -> None:
        if not self._is_to_stderr.value:
            raise RuntimeError(say("notices.log.files"))
        self._own_level = self._level_before = self._level.value
        self.changes.clear()
        self._before = (
            self._is_to_stderr.value, self._stderr_threshold.value, self._buffered_level.value,
        )  # fmt: skip
        # glog writes an entry also to the files of all lower severities. One file is enough.
        for severity in range(_WARNING, _FATAL + 1):
            self._set_destination(severity, b"")
        with tempfile.TemporaryDirectory() as folder:
            self._set_destination(0, f"{folder}/vlog-".encode())
            self._stderr_threshold.value = _WARNING
            self._buffered_level.value = _UNBUFFERED
            self._is_to_stderr.value = False
            entry = ctypes.create_string_buffer(1024)
            self._begin_entry(entry, b"", 0)
            self._end_entry(entry)
            path = next(Path(folder).iterdir(), None)
            self.file = None if path is None else path.open("rb")

    def _restore(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            self._is_to_stderr.value, self._stderr_threshold.value = before[:2]
            self._buffered_level.value = before[2]
            self._set_destination(0, b"")  # closes the file
        if self.file is not None:
            self.file.close()
            self.file = None


_GLOG: list[Glog] = []


def glog() -> Glog:
    """Return glog in Paddle's library; always the same object."""
    if not _GLOG:
        _GLOG.append(Glog())
    return _GLOG[0]
