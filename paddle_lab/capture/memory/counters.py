"""Paddle's own memory counters, read without importing Paddle or resetting a peak."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns, sleep
from typing import TYPE_CHECKING, Any, Final

from paddle_lab.capture.door import DOOR
from paddle_lab.sampling.counter import ABSENT, Counter
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.sampling.sampler import Sampler

_MOST_DEVICES: Final = 16
"""The number of devices for which Paddle has counters (``stats.h``)."""
_READINGS: Final = (
    ("allocated", "current_value", "Allocated"),
    ("reserved", "current_value", "Reserved"),
    ("peak allocated", "peak_value", "Allocated"),
)

# Other threads are assumed to have finished after this many equal readings of the counter.
_LOOK_S, _STILL_LOOKS, _MOST_LOOKS = 2e-4, 4, 40


class PaddleCounters:
    """The memory that Paddle's allocators have allocated and reserved, device by device.

    This class never imports Paddle, which takes seconds. The host's counters have no value until
    the notebook has imported Paddle. On a GPU build each device has its own counters.
    """

    def __init__(self) -> None:
        self._counters = _counters_of("cpu", absence=say("devices.paddle_not_yet"))
        self._reads: list[Callable[[], int]] = []

    def counters(self) -> Sequence[Counter]:
        """Return three counters for each device, the host first."""
        return self._counters

    def read(self, now_ns: int) -> Sequence[int]:  # noqa: ARG002
        """Return the value of each counter in bytes."""
        if not self._reads and not self._find():
            return [ABSENT] * len(self._counters)
        return [_value(read) for read in self._reads]

    def _find(self) -> bool:
        paddle, core = _imported("paddle"), _imported("paddle.base.core")
        if paddle is None or core is None:
            return False
        counters, reads = _counters_of("cpu"), _reads_of(core, "host", 0)
        absence = ""
        try:
            counts = device_counts(paddle)
        except Exception as error:  # noqa: BLE001  (a driver that is too old for this Paddle, say)
            reason = str(error).strip().partition("\n")[0]
            counts, absence = {}, say("devices.paddle_cannot_count", reason=reason)
        for kind, count in counts.items():
            for index in range(count):
                counters += _counters_of(f"{kind}:{index}")
                reads += _reads_of(core, "device", index)
        if not any(counts.values()):
            key = "paddle_sees_none" if counts else "paddle_for_cpu"
            absence = absence or say(f"devices.{key}")
            counters += (Counter("allocated", "gpu", "paddle", absence=absence),)
            reads.append(lambda: ABSENT)
        self._counters, self._reads = counters, reads
        return True


def device_counts(paddle: Any) -> dict[str, int]:
    """Return for how many devices Paddle counts memory, by kind of device, such as ``"gpu"``.

    Raises
    ------
    OSError
        If the driver does not fit this Paddle.
    """
    core = _imported("paddle.base.core")
    if paddle.is_compiled_with_cuda():
        counts = {"gpu": core.get_cuda_device_count()}
    elif paddle.is_compiled_with_xpu():
        counts = {"xpu": core.get_xpu_device_count()}
    else:
        # Devices of plug-ins, such as "npu".
        kinds = paddle.device.get_all_custom_device_type() or ()
        counts = {kind: core.get_custom_device_count(kind) for kind in kinds}
    return {kind: min(count, _MOST_DEVICES) for kind, count in counts.items()}


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


def memory_sampler(*, rate_hz: float = 50.0) -> Sampler:
    """Return a sampler of all counters on this machine: Paddle, NVML, the process.

    Parameters
    ----------
    rate_hz
        Samples a second, 1 to 100.

    Raises
    ------
    ValueError
        If the rate is out of bounds.
    """
    # Import these modules here. The ledger reads Paddle's counters in each cell, but needs none of
    # them.
    from paddle_lab.capture.running_layer import running_layer
    from paddle_lab.sampling.nvml import NvmlCounters
    from paddle_lab.sampling.process import ProcessCounters
    from paddle_lab.sampling.sampler import Sampler

    return Sampler(
        [PaddleCounters(), NvmlCounters(), ProcessCounters()],
        rate_hz=rate_hz,
        running_layer=running_layer,
    )


def _value(read: Callable[[], int]) -> int:
    try:
        return read()
    except Exception:  # noqa: BLE001  (a device that is gone; the others still answer)
        return ABSENT


def _imported(name: str) -> Any:
    """Return a module whose import has finished, else ``None``."""
    module = sys.modules.get(name)
    # The import system sets this while the module's own code is running.
    is_running = module is None or getattr(module.__spec__, "_initializing", False)
    return None if is_running else module


def _counters_of(device: str, *, absence: str = "") -> tuple[Counter, ...]:
    return tuple(Counter(name, device, "paddle", absence=absence) for name, _, _ in _READINGS)


def _reads_of(core: Any, kind: str, index: int) -> list[Callable[[], int]]:
    # A counter that this Paddle does not have is left out.
    return [
        partial(getattr(core, f"{kind}_memory_stat_{method}", lambda *_: ABSENT), counter, index)
        for _, method, counter in _READINGS
    ]
