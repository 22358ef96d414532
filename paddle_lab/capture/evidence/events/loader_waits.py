"""Measures how long a traced cell waits for the batches of each ``DataLoader``."""

from __future__ import annotations

import json
import weakref
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_lab.capture.evidence.events.loader_samples import SAMPLES

if TYPE_CHECKING:
    from paddle_lab.capture.evidence.events.event_log import EventLog
    from paddle_lab.capture.stacks.source_texts import Cells


class Begun(NamedTuple):
    """How long the start of an iterator took, and the settings of its loader."""

    workers: int
    is_shared: bool
    took_ns: int
    """How long it took to make the iterator and start the workers."""


BEGUN: weakref.WeakKeyDictionary[Any, Begun] = weakref.WeakKeyDictionary()
"""The start of each living iterator."""


@dataclass
class LoaderWait:
    """All waits for batches in one loop."""

    workers: int
    is_shared: bool
    """Whether the loader uses shared memory."""
    elapsed_ns: int = 0
    """The time from the first wait to the last, summed over the iterators."""
    waited_ns: int = 0
    outer_ns: int = 0
    """The time of waits for the first batch and the end of each iterator, with start of workers."""
    batches: int = 0
    iterators: int = 0


class LoaderLog:
    """The waits of a trace. Each loop is identified by its stack."""

    def __init__(self) -> None:
        self.waits: dict[int, LoaderWait] = {}
        self._ends_ns: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """When the last wait of each iterator ended; 0 once the iterator has no more data."""

    def note(self, iterator: Any, stack: int, times_ns: tuple[int, int], *, is_end: bool) -> None:
        """Record a wait for a batch or for the end of the data."""
        start_ns, end_ns = times_ns
        wait = self.waits.get(stack)
        if wait is None:
            begun = BEGUN[iterator]
            wait = self.waits[stack] = LoaderWait(begun.workers, begun.is_shared)
        before_ns = self._ends_ns.get(iterator)
        is_first = before_ns is None
        waited_ns = end_ns - start_ns + (BEGUN[iterator].took_ns if is_first else 0)
        wait.waited_ns += waited_ns
        wait.elapsed_ns += waited_ns + (start_ns - before_ns if before_ns else 0)
        wait.batches += 1
        wait.iterators += is_first
        if is_first or is_end:
            wait.outer_ns += waited_ns
        self._ends_ns[iterator] = 0 if is_end else end_ns

    def finish(self, events: EventLog, cells: Cells | None) -> None:
        """Record one event for each loop."""
        slow: tuple[str | int | float, ...] = SAMPLES.slowest() if self.waits else ()
        if slow:
            slow = *slow, cells.number(str(slow[0])) if cells else -1
        for stack, wait in self.waits.items():
            detail = json.dumps({**asdict(wait), "slow": slow if len(self.waits) == 1 else ()})
            events.add("loader_waits", stack, detail)
