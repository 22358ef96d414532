"""The allocated memory after each event, by Paddle's counter, and how much the log has missed.

The thread that cuts the log frees nothing at that time, but other threads may. Every event has a
value of Paddle's counter, so the change between two segments is known.
"""

from __future__ import annotations

import numpy as np

from paddle_lab.capture.memory.log.events import NOT_READ, AllocatorEvents, Int64s


class CountedTotals:
    """Follows Paddle's counter from segment to segment."""

    def __init__(self) -> None:
        self.missed_bytes = 0
        """The sum of the counter's changes between segments."""
        self.first: dict[int, int] = {}
        """For each place, the allocated memory before the first event."""
        self.last: dict[int, int] = {}
        """For each place, the allocated memory after the last event."""

    def count(self, events: AllocatorEvents) -> Int64s:
        """Return the memory allocated in the place of each event after it, shape ``[events]``.

        Parameters
        ----------
        events
            Events of the segments after those of the last call.
        """
        totals = events.allocated_bytes.copy()
        signs = np.array([1, -1, 0, 0])[events.kind]
        for place, segment in sorted(
            {*zip(events.place.tolist(), events.segment.tolist(), strict=True)}
        ):
            own = np.flatnonzero((events.segment == segment) & (events.place == place))
            sums = np.cumsum(signs[own] * events.bytes[own])
            counted = events.allocated_bytes[own]
            # An event of reserving repeats the count of the event before it.
            is_valid = (counted != NOT_READ) & (signs[own] != 0)
            is_valid = is_valid if is_valid.any() else counted != NOT_READ
            # Threads that allocate at once may read the counter after each other's event.
            before = int(np.median((counted - sums)[is_valid]))
            self.first.setdefault(place, before)
            self.missed_bytes += abs(before - self.last.get(place, before))
            totals[own] = before + sums
            self.last[place] = int(totals[own[-1]])
        return totals
