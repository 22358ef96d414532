"""Reads Paddle's own counters of every place at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns, sleep
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.counters import device_counts

# Other threads are assumed to have finished after this many equal readings of the counter.
_LOOK_S, _STILL_LOOKS, _MOST_LOOKS = 2e-4, 4, 40


@dataclass
class Reading:
    """Paddle's own counters of one place at one moment."""

    time_ns: int
    """The time, by ``perf_counter_ns``."""
    place: str
    allocated_bytes: int
    reserved_bytes: int


def read_places(paddle: Any) -> list[Reading]:
    """Return Paddle's counters now: the host's memory first, then each device's."""
    if not DOOR.has("counters"):
        return []
    host, time_ns = DOOR.host_counter, perf_counter_ns()
    readings = [Reading(time_ns, "cpu", host("Allocated", 0), host("Reserved", 0))]
    try:
        counts = device_counts(paddle)
    except (AttributeError, OSError):  # the driver does not fit this Paddle, or Paddle cannot tell
        return readings
    device = DOOR.device_counter
    return readings + [
        Reading(time_ns, f"{kind}:{index}", device("Allocated", index), device("Reserved", index))
        for kind, count in counts.items()
        for index in range(count)
    ]


def wait_for_others() -> None:
    """Wait a little for memory that other threads, such as a static program's, will free soon."""
    if not DOOR.has("counters"):
        return
    seen: list[int] = []
    for _ in range(_MOST_LOOKS):
        seen.append(DOOR.host_counter("Allocated", 0))
        if len(seen) >= _STILL_LOOKS and len(set(seen[-_STILL_LOOKS:])) == 1:
            break
        sleep(_LOOK_S)
