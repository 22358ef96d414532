"""NVIDIA's counters of GPUs, which include all processes of the machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from time import perf_counter_ns
from typing import Any, Final, TypeAlias
from weakref import WeakSet

from paddle_lab.sampling.counter import ABSENT, Counter
from paddle_lab.words import say

Answers: TypeAlias = tuple[tuple[Counter, int], ...]
"""Counters with their values."""

_PERIOD_S: Final = 0.1
"""The driver takes a few hundred microseconds per answer, and updates values this often."""
_SILENCE_NS: Final = 2_000_000_000
_FEW_READS: Final = 3
_LEAVE_S: Final = 0.5
_CLOSED: Final[WeakSet[threading.Thread]] = WeakSet()
"""Threads that were stopped, but are still waiting for the driver."""
_SENTENCES: Final = {
    "NVMLError_LibraryNotFound": "devices.no_library",
    "NVMLError_DriverNotLoaded": "devices.not_loaded",
    "NVMLError_NoPermission": "devices.no_permission",
    "NVMLError_LibRmVersionMismatch": "devices.updated",
}
# This counter stands for the first device until a device is known.
_NO_DEVICE: Final[Answers] = ((Counter("used", "nvidia:0", "nvml"), ABSENT),)


class _NoAnswerError(Exception):
    """The driver gives no values. The error's text is a sentence for the user."""


class _NoDriverError(_NoAnswerError):
    """There is no driver, so do not try again."""


class NvmlCounters:
    """The memory in use and the utilisation of every device that the driver lists.

    A separate thread asks the driver ten times a second while the counters are read. So a slow or
    silent driver blocks nothing else. There are no counters until the first answer. If the driver
    answers with an error for a device, only this device has no values.

    Parameters
    ----------
    retry_s
        After an error, the driver is opened again after this many seconds.
    """

    def __init__(self, *, retry_s: float = 5.0) -> None:
        self._retry_s = retry_s
        self._answers: Answers = ()
        """The driver's latest answers."""
        self._read: Answers = ()
        """The answers that were last read."""
        self._has_driver = True
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._asked_ns = 0
        """When the driver was asked; 0 if no answer is pending."""
        self._unanswered_ns = self._unanswered_reads = 0

    def counters(self) -> Sequence[Counter]:
        """Return two counters for each device. Without devices, return one that says why."""
        return [counter for counter, _ in self._read]

    def read(self, now_ns: int) -> Sequence[int]:
        """Return for each device the bytes in use, and the percentage of time in use."""
        if self._has_driver and (self._thread is None or not self._thread.is_alive()):
            self._begin(now_ns)
        answers = self._answers
        if self._is_silent(now_ns):
            answers = _absent(answers, say("devices.no_answer"))
        self._read = answers
        return [value for _, value in answers]

    def close(self) -> None:
        """Stop the thread. A later read starts another one."""
        thread, self._thread = self._thread, None
        self._closing.set()
        if thread is not None:
            thread.join(_LEAVE_S)
            if thread.is_alive():
                _CLOSED.add(thread)

    def _begin(self, now_ns: int) -> None:
        if any(thread.is_alive() for thread in _CLOSED):
            # The earlier thread still waits for the driver. Another thread would only wait as well.
            self._asked_ns = self._asked_ns or now_ns
            return
        self._answers, self._asked_ns = (), 0  # the earlier answers are obsolete
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._converse, args=(self._closing,), name="paddle_lab NVML", daemon=True
        )
        self._thread.start()

    def _is_silent(self, now_ns: int) -> bool:
        """Tell whether the driver does not answer."""
        asked_ns = self._asked_ns
        self._unanswered_reads += 1
        if asked_ns != self._unanswered_ns:
            self._unanswered_ns, self._unanswered_reads = asked_ns, 0
        # Also check that there were reads: while another thread held the GIL, our thread could not
        # process an answer, but then there were no reads either.
        is_late = asked_ns != 0 and now_ns - asked_ns > _SILENCE_NS
        return is_late and self._unanswered_reads >= _FEW_READS

    # -- the thread -------------------------------------------------------------------------------

    def _converse(self, closing: threading.Event) -> None:
        while not closing.is_set():
            self._ask_until_an_error(closing)
            closing.wait(self._retry_s)

    def _ask_until_an_error(self, closing: threading.Event) -> None:
        try:
            with self._asking():
                nvml = _opened()
            try:
                while not closing.is_set():
                    with self._asking():
                        self._answers = _round(nvml, len(self._answers) // 2)
                    closing.wait(_PERIOD_S)
            finally:
                with suppress(Exception):
                    nvml.nvmlShutdown()
        except Exception as error:  # noqa: BLE001  (the chart goes on after any error)
            self._answers = _absent(self._answers, _sentence(error))
            if isinstance(error, _NoDriverError):
                self._has_driver = False
                closing.set()

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self._asked_ns = perf_counter_ns()
        try:
            yield
        finally:
            self._asked_ns = 0


def _opened() -> Any:
    """Return the module ``pynvml`` with an open driver."""
    try:
        import pynvml
    except ImportError:
        raise _NoDriverError(say("devices.no_package")) from None
    except Exception as error:  # noqa: BLE001  (such as a package for Python 2)
        raise _NoDriverError(say("devices.cannot_import", error=repr(error))) from None
    if not hasattr(pynvml, "nvmlInit"):
        file = getattr(pynvml, "__file__", None)
        raise _NoDriverError(say("devices.not_nvidias", file=file))
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound as error:
        raise _NoDriverError(_sentence(error)) from None
    return pynvml


def _round(nvml: Any, known: int) -> Answers:
    """Return the answers for all devices, at least for as many as were known before."""
    count = int(nvml.nvmlDeviceGetCount())
    if not count:
        raise _NoAnswerError(say("devices.lists_none"))
    answers: Answers = ()
    for index in range(max(count, known)):
        answers += _device(nvml, index, is_listed=index < count)
    return answers


def _device(nvml: Any, index: int, *, is_listed: bool) -> Answers:
    # This is NVML's number, which does not depend on CUDA_VISIBLE_DEVICES.
    device = f"nvidia:{index}"
    used = Counter("used", device, "nvml")
    busy = Counter("utilisation", device, "nvml", unit="percent", limit=100)
    absence = say("devices.lists_no_longer", device=device)
    if is_listed:
        try:
            # Look the handle up each time, because the handle of a lost device becomes invalid.
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
        except Exception as error:  # noqa: BLE001  (the chart goes on after any error)
            absence = _sentence(error, device=device)
        else:
            return (
                _answer(nvml, handle, used, _used),
                _answer(nvml, handle, busy, _utilisation),
            )
    return _absent(((used, ABSENT), (busy, ABSENT)), absence)


def _answer(
    nvml: Any, handle: Any, counter: Counter, ask: Callable[[Any, Any], tuple[int, int]]
) -> tuple[Counter, int]:
    try:
        value, limit = ask(nvml, handle)
    except nvml.NVMLError_NotSupported:
        # An example is a device that is divided (MIG).
        absence = say(f"devices.does_not_tell.{counter.name}", device=counter.device)
    except Exception as error:  # noqa: BLE001  (the chart goes on after any error)
        absence = _sentence(error, device=counter.device)
    else:
        return replace(counter, limit=limit), value
    return replace(counter, absence=absence), ABSENT


def _used(nvml: Any, handle: Any) -> tuple[int, int]:
    """Return the bytes in use without those of the driver, as ``nvidia-smi`` shows them.

    NVML's first function includes the driver's bytes, which are hundreds of megabytes (see
    ``nvmlMemory_t`` and ``nvmlMemory_v2_t`` in its reference). Drivers before 510 and old packages
    have only that function.
    """
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    except (AttributeError, nvml.NVMLError_FunctionNotFound):
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    return int(memory.used), int(memory.total)


def _utilisation(nvml: Any, handle: Any) -> tuple[int, int]:
    return int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu), 100


def _absent(answers: Answers, absence: str) -> Answers:
    """Return the counters without values, and with a sentence that says why."""
    return tuple(
        (replace(counter, absence=absence), ABSENT) for counter, _ in answers or _NO_DEVICE
    )


def _sentence(error: Exception, *, device: str = "") -> str:
    """Return a sentence that explains an error of the driver, for one device or for all."""
    if isinstance(error, _NoAnswerError):
        return str(error)
    known = _SENTENCES.get(type(error).__name__)
    if known is not None:
        return say(known)
    if device:
        return say("devices.answers_asked", device=device, error=error)
    return say("devices.answers", error=error)
