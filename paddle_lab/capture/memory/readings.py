"""Paddle's own counters of every place, at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns, sleep
from typing import Any

from paddle_lab.capture.memory.counters import device_counts

# Other threads are taken to have ended when the counter stands still for so many looks.
_LOOK_S, _STILL_LOOKS, _MOST_LOOKS = 2e-4, 4, 40


@dataclass
class Reading:
    """Paddle's own counters of one place at one moment."""

    time_ns: int
    """By ``perf_counter_ns``."""
    place: str
    allocated_bytes: int
    reserved_bytes: int


def read_places(paddle: Any) -> list[Reading]:
    """Return what Paddle counts now: the host's memory first, then each device's."""
    core, time_ns = paddle.base.core, perf_counter_ns()
    host = core.host_memory_stat_current_value
    readings = [Reading(time_ns, "cpu", host("Allocated", 0), host("Reserved", 0))]
    try:
        counts = device_counts(core, paddle)
    except OSError:  # a driver that does not fit this Paddle: nothing is allocated there
        return readings
    device = core.device_memory_stat_current_value
    return readings + [
        Reading(time_ns, f"{kind}:{index}", device("Allocated", index), device("Reserved", index))
        for kind, count in counts.items()
        for index in range(count)
    ]


def wait_for_others(paddle: Any) -> None:
    """Wait a little for what other threads are about to free, such as static programs'."""
    core, seen = paddle.base.core, []
    for _ in range(_MOST_LOOKS):
        seen.append(core.host_memory_stat_current_value("Allocated", 0))
        if len(seen) >= _STILL_LOOKS and len(set(seen[-_STILL_LOOKS:])) == 1:
            break
        sleep(_LOOK_S)
