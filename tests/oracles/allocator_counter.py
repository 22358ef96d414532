"""Paddle's own counter of allocated memory, read directly from C++ at moments of a traced run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns

import paddle
from paddle.base import core


def allocated_bytes() -> int:
    """Return what Paddle says is allocated on the host now."""
    return core.host_memory_stat_current_value("Allocated", 0)


def peak_bytes() -> int:
    """Return the most that Paddle says was allocated since :func:`reset_peak`."""
    return core.host_memory_stat_peak_value("Allocated", 0)


def reset_peak() -> None:
    """Reset the peak to the bytes that are allocated now."""
    core.host_memory_stat_reset_peak_value("Allocated", 0)


class CounterReadings:
    """Readings of the counter, each with its moment by ``perf_counter_ns``."""

    def __init__(self) -> None:
        self.readings: list[tuple[int, int]] = []

    def read(self, *_: object) -> None:
        """Read the counter now; whatever a hook passes is ignored."""
        self.readings.append((perf_counter_ns(), allocated_bytes()))


@contextmanager
def readings_around_layers() -> Iterator[CounterReadings]:
    """Read the counter before and after every call of every layer."""
    readings = CounterReadings()
    call = paddle.nn.Layer.__call__

    def __call__(self: paddle.nn.Layer, *args: object, **kwargs: object) -> object:
        readings.read()
        try:
            return call(self, *args, **kwargs)
        finally:
            readings.read()

    paddle.nn.Layer.__call__ = __call__
    try:
        yield readings
    finally:
        paddle.nn.Layer.__call__ = call
