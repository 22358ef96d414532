"""What NVIDIA's driver says of its devices, by the module ``pynvml``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

from paddle_lab.sampling.counter import ABSENT, Counter
from paddle_lab.words import say

_NO_LIBRARY: Final = "NVMLError_LibraryNotFound"
_NOT_SUPPORTED: Final = "NVMLError_NotSupported"
_SENTENCES: Final = {
    _NO_LIBRARY: "devices.no_library",
    "NVMLError_DriverNotLoaded": "devices.not_loaded",
    "NVMLError_NoPermission": "devices.no_permission",
    "NVMLError_LibRmVersionMismatch": "devices.updated",
}


Answers: TypeAlias = tuple[tuple[Counter, int], ...]
"""Counters with their values."""


class NoDriverError(Exception):
    """There is nothing to ask, now or later; its text is a sentence."""


class Driver:
    """One conversation with the driver, of one thread.

    Raises
    ------
    NoDriverError
        If this machine has none, or nothing that speaks to it.
    """

    def __init__(self) -> None:
        try:
            import pynvml
        except ImportError:
            raise NoDriverError(say("devices.no_package")) from None
        except Exception as error:  # noqa: BLE001  (one for Python 2 alone, say)
            raise NoDriverError(say("devices.cannot_import", error=repr(error))) from None
        if not hasattr(pynvml, "nvmlInit"):
            file = getattr(pynvml, "__file__", None)
            raise NoDriverError(say("devices.not_nvidias", file=file))
        self._library = pynvml
        self.asked_ns = 0
        """When the question was asked that is not answered yet; 0 for none."""
        self.has_reserved_apart = hasattr(pynvml, "nvmlMemory_v2")

    def open(self) -> None:
        """Begin; raises what the driver answers, or :class:`NoDriverError`."""
        try:
            self.ask("nvmlInit")
        except Exception as error:
            if type(error).__name__ == _NO_LIBRARY:
                raise NoDriverError(sentence(error)) from None
            raise

    def close(self) -> None:
        """End; NVML counts how often one began."""
        with suppress(Exception):
            self.ask("nvmlShutdown")

    def device_count(self) -> int:
        """Return how many devices the driver lists now."""
        return int(self.ask("nvmlDeviceGetCount"))

    def ask(self, question: str, *values: Any, **named: Any) -> Any:
        """Return what a function of ``pynvml`` answers."""
        self.asked_ns = perf_counter_ns()
        try:
            return getattr(self._library, question)(*values, **named)
        finally:
            self.asked_ns = 0

    def memory(self, handle: Any) -> Any:
        """Return what ``nvidia-smi`` shows: without what the driver keeps for itself.

        NVML's first version counts that as used (``nvmlMemory_t`` and ``nvmlMemory_v2_t`` in NVML's
        reference), hundreds of megabytes. Drivers before 510 have no other.
        """
        question = "nvmlDeviceGetMemoryInfo"
        if self.has_reserved_apart:
            try:
                return self.ask(question, handle, version=self._library.nvmlMemory_v2)
            except Exception as error:
                if type(error).__name__ != "NVMLError_FunctionNotFound":
                    raise
                self.has_reserved_apart = False
        return self.ask(question, handle)


class Device:
    """One device; its number is NVML's, which ``CUDA_VISIBLE_DEVICES`` does not change.

    Parameters
    ----------
    index
        The number.
    retry_ns
        How long a device is left alone that has answered nothing but errors.
    """

    def __init__(self, index: int, *, retry_ns: int) -> None:
        self._index = index
        self._retry_ns = retry_ns
        self.name = f"nvidia:{index}"
        self.answers: Answers = (
            (Counter("used", self.name, "nvml"), ABSENT),
            (Counter("utilisation", self.name, "nvml", unit="percent", limit=100), ABSENT),
        )
        """Bytes in use, and per cent of the time in use."""
        self._next_ns = 0

    def ask(self, driver: Driver) -> bool:
        """Ask the driver, and return whether it has told anything of the device."""
        if perf_counter_ns() < self._next_ns:
            return False
        try:
            # Looked up each time: the handle of a device that went and came is stale.
            handle = driver.ask("nvmlDeviceGetHandleByIndex", self._index)
        except Exception as error:  # noqa: BLE001  (whatever a driver does, the chart goes on)
            self.answers = absent(self.answers, sentence(error, device=self.name))
        else:
            (used, _), (busy, _) = self.answers
            self.answers = (
                _answer(used, lambda: _used(driver, handle)),
                _answer(busy, lambda: _utilisation(driver, handle)),
            )
        has_told = any(value != ABSENT for _, value in self.answers)
        self._next_ns = 0 if has_told else perf_counter_ns() + self._retry_ns
        return has_told


def absent(answers: Answers, absence: str) -> Answers:
    """Return the counters without their values, and a sentence that says why."""
    return tuple((replace(counter, absence=absence), ABSENT) for counter, _ in answers)


def sentence(error: Exception, *, device: str = "") -> str:
    """Return a sentence on what a driver's error means, and for which device."""
    known = _SENTENCES.get(type(error).__name__)
    if known is not None:
        return say(known)
    if device:
        return say("devices.answers_asked", device=device, error=error)
    return say("devices.answers", error=error)


def _answer(counter: Counter, ask: Callable[[], tuple[int, int]]) -> tuple[Counter, int]:
    try:
        value, limit = ask()
    except Exception as error:  # noqa: BLE001
        if type(error).__name__ == _NOT_SUPPORTED:
            # As of a device that is divided (MIG), and under some drivers' models.
            absence = say(f"devices.does_not_tell.{counter.name}", device=counter.device)
        else:
            absence = sentence(error, device=counter.device)
        return replace(counter, absence=absence), ABSENT
    return replace(counter, absence="", limit=limit), value


def _used(driver: Driver, handle: Any) -> tuple[int, int]:
    memory = driver.memory(handle)
    return int(memory.used), int(memory.total)


def _utilisation(driver: Driver, handle: Any) -> tuple[int, int]:
    return int(driver.ask("nvmlDeviceGetUtilizationRates", handle).gpu), 100
