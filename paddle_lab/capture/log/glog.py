"""Paddle's log: its level, and the file to which it is written while traces record it.

Paddle writes its log with glog, which can write to a file instead of descriptor 2. So other output
on descriptor 2 is not touched: the output of subprocesses, a crash report, and glog's own warnings.
Each entry is written at once, so the file has all entries if the process dies.

glog's flags are read and set in Paddle's library itself, because Paddle's Python functions cannot
read them, and the level that the user has set must be restored.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns, time
from typing import Final

import psutil

from paddle_lab.capture.door import DOOR
from paddle_lab.words import say

_WARNING, _FATAL = 1, 3
_UNBUFFERED: Final = -1
_FOLDER: Final = "paddle-lab-log-"
_KEPT_S: Final = 24 * 60 * 60
"""How long the log of a dead process is kept, in seconds."""


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
        # Used to write an entry of our own, since the file is created with the first entry.
        self._begin_entry = library._ZN6google10LogMessageC1EPKci
        self._begin_entry.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self._end_entry = library._ZN6google10LogMessageD1Ev
        self._end_entry.argtypes = [ctypes.c_void_p]
        self._requests: list[LogRequest] = []
        self._backward_levels: list[int] = []
        self.path: Path | None = None
        """The file with the log; ``None`` if no log is being written."""
        self._folder = ""
        self._number = 0
        self._before: tuple[bool, int, int] | None = None
        self._own_level = self._level_before = 0
        self.changes: list[tuple[int, int]] = []
        """Times (``perf_counter_ns``) and new levels of all changes since the first request."""

    @property
    def size(self) -> int:
        """The file's size, in bytes."""
        return 0 if self.path is None else self.path.stat().st_size

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
        if not Path(self._folder or "none").is_dir():
            _remove_leftovers()
            self._folder = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")
            atexit.register(_remove, self._folder, os.getpid())
        # glog appends the time in seconds to the name. If such a file exists, glog writes nothing.
        self._number += 1
        prefix = f"vlog-{self._number}-"
        self._own_level = self._level_before = self._level.value
        self.changes.clear()
        self._before = (
            self._is_to_stderr.value, self._stderr_threshold.value, self._buffered_level.value,
        )  # fmt: skip
        # glog writes an entry also to the files of all lower severities. One file is enough.
        for severity in range(_WARNING, _FATAL + 1):
            self._set_destination(severity, b"")
        self._set_destination(0, f"{self._folder}/{prefix}".encode())
        self._stderr_threshold.value = _WARNING
        self._buffered_level.value = _UNBUFFERED
        self._is_to_stderr.value = False
        entry = ctypes.create_string_buffer(1024)
        self._begin_entry(entry, b"", 0)
        self._end_entry(entry)
        self.path = next(Path(self._folder).glob(f"{prefix}*"), None)

    def _restore(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            self._is_to_stderr.value, self._stderr_threshold.value = before[:2]
            self._buffered_level.value = before[2]
            self._set_destination(0, b"")  # closes the file
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path = None


def _remove_leftovers() -> None:
    """Remove the folders of dead processes that are older than a day."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        with suppress(OSError, ValueError):
            process = int(folder.name.removeprefix(_FOLDER).partition("-")[0])
            is_old = time() - folder.stat().st_mtime > _KEPT_S
            if is_old and not psutil.pid_exists(process):
                shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # not in a fork of the process
        shutil.rmtree(folder, ignore_errors=True)


_GLOG: list[Glog] = []


def glog() -> Glog:
    """Return glog in Paddle's library; always the same object."""
    if not _GLOG:
        _GLOG.append(Glog())
    return _GLOG[0]
