"""The two peak rates of this machine's roofline, measured once in each process.

According to the roofline model (Williams, Waterman, Patterson, 2009), a kernel needs at least the
time for its operations at the rate of a large matrix product, and the time for its bytes at the
rate of a large copy. Both rates are measured with Paddle, in float32, with the threads and the
device that the cell used. So they are rates that Paddle reaches on this machine, not those that the
manufacturer states.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import psutil

from paddle_lab.capture.recorder.recorder import SINKS

DTYPE = "float32"
_FLOAT_BYTES = 4
_BUDGET_S = 0.2
"""Each of the two peaks is measured for this time."""
_LONG_S = 0.01
"""The matrices are enlarged until their product takes this time."""
_SMALLEST, _LARGEST = 256, 8192
_COPY_BYTES = {"cpu": 64 << 20, "gpu": 256 << 20}
"""More than the caches of most processors. A copy needs twice as much memory for a moment."""
_MEMORY_SHARE = 16
"""At most the free memory divided by this number is used."""


class Peaks(NamedTuple):
    """The roofline of a device."""

    place: str
    flops_per_second: int
    """Measured by a product of matrices; a multiply-add is 2 operations."""
    bytes_per_second: int
    """Measured by a copy; bytes read and bytes written."""


_MEASURED: dict[str, Peaks] = {}


def peaks(paddle: Any) -> Peaks | None:
    """Return the peaks of the current device. The first call takes about half a second.

    Parameters
    ----------
    paddle
        The paddle module.

    Returns
    -------
    Peaks or None
        ``None`` if they cannot be measured now: another trace is open, a static program is being
        built, or the device is neither the CPU nor a GPU.
    """
    place = str(paddle.device.get_device())
    if place not in _MEASURED:
        is_known = place.partition(":")[0] in _COPY_BYTES
        if SINKS.active or not paddle.in_dynamic_mode() or not is_known:
            return None
        with paddle.no_grad():
            _MEASURED[place] = _measured(paddle, place)
    return _MEASURED[place]


def _measured(paddle: Any, place: str) -> Peaks:
    kind = place.partition(":")[0]
    wait = paddle.device.synchronize if kind != "cpu" else lambda: None
    size, took_s = _SMALLEST, 0.0
    while True:
        one = paddle.full([size, size], 0.5, DTYPE)
        took_s = _shortest(lambda: paddle.matmul(one, one), wait, budget_s=0)  # noqa: B023
        if took_s >= _LONG_S or size >= _LARGEST:
            break
        size *= 2
    took_s = min(took_s, _shortest(lambda: paddle.matmul(one, one), wait, budget_s=_BUDGET_S))
    free_bytes = psutil.virtual_memory().available // _MEMORY_SHARE
    elements = min(_COPY_BYTES[kind], free_bytes) // _FLOAT_BYTES
    source, target = (paddle.full([elements], 0.5, DTYPE) for _ in range(2))
    copy_s = _shortest(lambda: paddle.assign(source, output=target), wait, budget_s=_BUDGET_S)
    return Peaks(
        place,
        flops_per_second=int(2 * size**3 / took_s),
        bytes_per_second=int(2 * elements * _FLOAT_BYTES / copy_s),
    )


def _shortest(work: Callable[[], Any], wait: Callable[[], Any], *, budget_s: float) -> float:
    """Return the shortest time of several runs, after a first run that does not count."""
    work()
    wait()
    end_s, shortest_s = perf_counter() + budget_s, float("inf")
    while True:
        begin_s = perf_counter()
        work()
        wait()
        now_s = perf_counter()
        shortest_s = min(shortest_s, now_s - begin_s)
        if now_s >= end_s:
            return shortest_s
