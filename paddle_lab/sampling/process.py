"""The resident memory of this process."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from paddle_lab.sampling.counter import ABSENT, Counter


class ProcessCounters:
    """What the operating system says of the kernel's own process."""

    def __init__(self) -> None:
        self._process = psutil.Process()
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
        """Return the bytes that are in memory, those shared with other processes included."""
        try:
            return (int(self._process.memory_info().rss),)
        except (psutil.Error, OSError):
            return (ABSENT,)
