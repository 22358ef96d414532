"""What was allocated after each event, by Paddle's counter, and what the log has missed.

The thread that cuts the log frees nothing meanwhile, but others may: the executor of a static
program frees in a thread of its own. Every event carries Paddle's counter, so it is known how much
was missed between two segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paddle_lab.capture.memory.log.events import NOT_READ, AllocatorEvents, Int64s
from paddle_lab.capture.memory.log.segments import Segment


@dataclass
class Gap:
    """What was missed between two segments in one place."""

    time_ns: int
    place: int
    bytes: int
    """Change of the allocated memory; negative where frees were missed."""


class CountedTotals:
    """Follows Paddle's counter from segment to segment, and notes what was missed between two."""

    def __init__(self) -> None:
        self.gaps: list[Gap] = []
        """Where the counter went on from another value than the one before."""
        self.first: dict[int, int] = {}
        """What each place had before the first event there."""
        self.last: dict[int, int] = {}
        """Likewise after the last event."""

    def count(self, events: AllocatorEvents, segments: Sequence[Segment]) -> Int64s:
        """Return what was allocated in the place of each event after it, shape ``[events]``.

        Parameters
        ----------
        events
            Of the segments that follow those of the last call.
        segments
            The segments that contain the events.
        """
        totals = events.allocated_bytes.copy()
        signs = np.array([1, -1, 0, 0])[events.kind]
        for place in np.unique(events.place).tolist():
            for number, segment in enumerate(segments):
                its_own = np.flatnonzero((events.segment == number) & (events.place == place))
                if not len(its_own):
                    continue
                sums = np.cumsum(signs[its_own] * events.bytes[its_own])
                counted = events.allocated_bytes[its_own]
                # An event of reserving says what the last event but it said.
                tells = (counted != NOT_READ) & (signs[its_own] != 0)
                tells = tells if tells.any() else counted != NOT_READ
                # Threads that allocate at once may read the counter after each other's event.
                before = int(np.median((counted - sums)[tells]))
                self.first.setdefault(place, before)
                last_total = self.last.get(place, before)
                if before != last_total:
                    self.gaps.append(Gap(segment.begin.perf_ns, place, before - last_total))
                totals[its_own] = before + sums
                self.last[place] = before + int(sums[-1])
        return totals
