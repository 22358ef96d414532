"""The resident memory of this process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import psutil

from paddle_lab.sampling.counter import ABSENT, Counter

_STATM: Final = Path("/proc/self/statm")


class ProcessCounters:
    """The resident memory of the kernel's process, as the operating system reports it."""

    def __init__(self) -> None:
        self._resident_bytes = _of_linux() if _STATM.exists() else _of_psutil()
        self._counter = Counter(
            name="resident",
            device="process",
            source="system",
            limit=int(psutil.virtual_memory().total),
        )

    def counters(self) -> Sequence[Counter]:
        """Return the resident memory's counter."""
        return (self._counter,)

    def read(self, now_ns: int) -> Sequence[int]:  # noqa: ARG002
        """Return the bytes in memory, including those shared with other processes."""
        try:
            return (self._resident_bytes(),)
        except (psutil.Error, OSError):
            return (ABSENT,)


def _of_linux() -> Callable[[], int]:
    """Return a function that reads the second field of ``statm``, in pages (proc_pid_statm(5)).

    psutil would open the file each time and read all fields. While Paddle works, this would take a
    third of a sample's time.
    """
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    file = _STATM.open("rb", buffering=0)

    def read() -> int:
        return int(os.pread(file.fileno(), 64, 0).split(b" ", 2)[1]) * page_bytes

    return read


def _of_psutil() -> Callable[[], int]:
    process = psutil.Process()
    return lambda: int(process.memory_info().rss)
