"""NVIDIA's own counters of its devices: what everyone on the machine uses together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from paddle_lab.sampling.counter import ABSENT, Counter

_PERIOD_NS: Final = 100_000_000
"""The driver's answers are a few hundred microseconds each, and no newer than this."""
_RETRY_NS: Final = 5_000_000_000

_NO_LIBRARY: Final = (
    "This machine has no NVIDIA driver (its NVML library was not found), so no device totals."
)
_SENTENCES: Final = {
    "NVMLError_LibraryNotFound": _NO_LIBRARY,
    "NVMLError_DriverNotLoaded": "The NVIDIA driver is not loaded, so there are no device totals.",
    "NVMLError_NoPermission": "This user may not ask the NVIDIA driver for device totals.",
}


class NvmlCounters:
    """Memory in use and utilisation of every device that the driver lists.

    A device whose driver answers with an error is absent from then on, and asked again every five
    seconds; the others go on.

    Parameters
    ----------
    library
        What speaks NVML: the module ``pynvml`` unless given.
    """

    def __init__(self, library: Any = None) -> None:
        self._library = library
        self._devices: list[_Device] = []
        self._absence = ""
        try:
            if library is None:
                import pynvml

                self._library = pynvml
            self._library.nvmlInit()
            count = int(self._library.nvmlDeviceGetCount())
        except Exception as error:  # noqa: BLE001  (whatever a driver does, the chart goes on)
            self._absence = _sentence(error)
            return
        self._devices = [_Device(self._library, index) for index in range(count)]
        if not count:
            self._absence = "The NVIDIA driver lists no device."

    def counters(self) -> Sequence[Counter]:
        """Return two counters a device; without devices one, whose absence says why."""
        if not self._devices:
            return (Counter("used", "gpu", "nvml", absence=self._absence),)
        return [counter for device in self._devices for counter in device.counters]

    def read(self, now_ns: int) -> Sequence[int]:
        """Return bytes in use and per cent of time in use, device after device."""
        if not self._devices:
            return (ABSENT,)
        return [value for device in self._devices for value in device.read(now_ns)]


class _Device:
    """One device; its number is NVML's, which ``CUDA_VISIBLE_DEVICES`` does not change."""

    def __init__(self, library: Any, index: int) -> None:
        self._library = library
        self._index = index
        device = f"nvidia:{index}"
        self._used = Counter("used", device, "nvml")
        self._utilisation = Counter("utilisation", device, "nvml", unit="percent", limit=100)
        self._values = [ABSENT, ABSENT]
        self._next_ns = 0
        self._has_reserved_apart = hasattr(library, "nvmlMemory_v2")

    @property
    def counters(self) -> tuple[Counter, Counter]:
        return self._used, self._utilisation

    def read(self, now_ns: int) -> list[int]:
        if now_ns >= self._next_ns:
            # An index is looked up each time: the handle of a device that went and came is stale.
            self._used, used = self._ask(self._used, self._ask_used)
            self._utilisation, utilisation = self._ask(self._utilisation, self._ask_utilisation)
            self._values = [used, utilisation]
            answers = used != ABSENT or utilisation != ABSENT
            self._next_ns = now_ns + (_PERIOD_NS if answers else _RETRY_NS)
        return self._values

    def _ask(self, counter: Counter, ask: Callable[[], tuple[int, int]]) -> tuple[Counter, int]:
        try:
            value, limit = ask()
        except Exception as error:  # noqa: BLE001
            return replace(counter, absence=_sentence(error)), ABSENT
        if counter.absence or counter.limit != limit:
            counter = replace(counter, absence="", limit=limit)
        return counter, value

    def _ask_used(self) -> tuple[int, int]:
        memory = self._memory()
        return int(memory.used), int(memory.total)

    def _memory(self) -> Any:
        """Return what ``nvidia-smi`` shows: without what the driver keeps for itself.

        NVML's first version counts that as used (``nvmlMemory_t`` and ``nvmlMemory_v2_t`` in NVML's
        reference), hundreds of megabytes. Drivers before 510 have no other.
        """
        library = self._library
        if self._has_reserved_apart:
            try:
                return library.nvmlDeviceGetMemoryInfo(
                    self._handle(), version=library.nvmlMemory_v2
                )
            except Exception as error:
                if type(error).__name__ != "NVMLError_FunctionNotFound":
                    raise
                self._has_reserved_apart = False
        return library.nvmlDeviceGetMemoryInfo(self._handle())

    def _ask_utilisation(self) -> tuple[int, int]:
        return int(self._library.nvmlDeviceGetUtilizationRates(self._handle()).gpu), 100

    def _handle(self) -> Any:
        return self._library.nvmlDeviceGetHandleByIndex(self._index)


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        return "Device totals need the package nvidia-ml-py: run `pip install nvidia-ml-py`."
    known = _SENTENCES.get(type(error).__name__)
    return known or f"The NVIDIA driver answers: {error}."
