"""NVIDIA's own counters of its devices: what everyone on the machine uses together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from time import perf_counter_ns
from typing import Final

from paddle_lab.sampling.counter import ABSENT, Counter
from paddle_lab.sampling.nvml_driver import (
    Answers,
    Device,
    Driver,
    NoDriverError,
    absent,
    sentence,
)
from paddle_lab.words import say

_PERIOD_S: Final = 0.1
"""The driver's answers are a few hundred microseconds each, and no newer than this."""
_SILENCE_NS: Final = 2_000_000_000
_IDLE_NS: Final = 30_000_000_000
_FEW_READS: Final = 3
_LEAVE_S: Final = 0.5
_WAITING: Final[dict[threading.Thread, int]] = {}
"""Threads of this process that were to end and wait for the driver still, and since when."""


# The place of the first device's: where there are devices later, that is theirs.
_NO_DEVICE: Final[Answers] = ((Counter("used", "nvidia:0", "nvml"), ABSENT),)


class NvmlCounters:
    """Memory in use and utilisation of every device that the driver lists.

    A separate thread asks the driver ten times a second while the counters are read, so that a
    slow or silent driver blocks nothing else. There are no counters until the first answer. After
    an error, a device has no values and is asked again every few seconds; the others go on.

    Parameters
    ----------
    retry_s
        Seconds until a driver or a device that has answered with errors is asked again.
    """

    def __init__(self, *, retry_s: float = 5.0) -> None:
        self._retry_s = retry_s
        self._devices: list[Device] = []
        self._answers: Answers = ()
        """The driver's latest."""
        self._read: Answers = ()
        """What was read last."""
        self._driver: Driver | None = None
        self._has_none = False
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._read_ns = 0
        self._unanswered_ns = self._unanswered_reads = 0

    def counters(self) -> Sequence[Counter]:
        """Return two counters for each device; without devices, one counter whose text says why."""
        return [counter for counter, _ in self._read]

    def read(self, now_ns: int) -> Sequence[int]:
        """Return bytes in use and per cent of time in use, device after device."""
        answers = self._answers
        if not self._has_none:
            self._read_ns = now_ns
            if self._thread is None or not self._thread.is_alive():
                self._begin()
            if self._is_silent(now_ns):
                answers = absent(answers or _NO_DEVICE, say("devices.no_answer"))
        self._read = answers
        return [value for _, value in answers]

    def close(self) -> None:
        """End the asking; a later read takes it up again."""
        thread, self._thread = self._thread, None
        self._closing.set()
        if thread is not None:
            thread.join(_LEAVE_S)
            if thread.is_alive():
                _WAITING[thread] = perf_counter_ns()

    def _begin(self) -> None:
        for thread in [thread for thread in _WAITING if not thread.is_alive()]:
            del _WAITING[thread]
        if _WAITING:
            # The driver owes one an answer: another thread would only wait beside it.
            if perf_counter_ns() - min(_WAITING.values()) > _SILENCE_NS:
                self._answers = absent(self._answers or _NO_DEVICE, say("devices.no_answer"))
            return
        # The earlier answers are out of date.
        self._answers = tuple((counter, ABSENT) for counter, _ in self._answers)
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._converse, args=(self._closing,), name="paddle_lab NVML", daemon=True
        )
        self._thread.start()

    def _is_silent(self, now_ns: int) -> bool:
        """Whether the driver owes an answer, not this process the time to take it."""
        asked_ns = self._driver.asked_ns if self._driver is not None else 0
        self._unanswered_reads += 1
        if asked_ns != self._unanswered_ns:
            self._unanswered_ns, self._unanswered_reads = asked_ns, 0
        # Where the interpreter was held, nobody could read either.
        return (
            bool(asked_ns)
            and now_ns - asked_ns > _SILENCE_NS
            and self._unanswered_reads >= _FEW_READS
        )

    # -- the thread -------------------------------------------------------------------------------

    def _converse(self, closing: threading.Event) -> None:
        while not closing.is_set():
            try:
                self._driver = self._driver or Driver()
                self._driver.open()
            except NoDriverError as error:
                self._has_none = True
                self._answers = absent(self._answers or _NO_DEVICE, str(error))
                return
            except Exception as error:  # noqa: BLE001  (whatever a driver does, the chart goes on)
                self._miss(sentence(error))
            else:
                try:
                    while self._ask(self._driver, closing):
                        if closing.wait(_PERIOD_S) or self._is_idle():
                            return
                finally:
                    self._driver.close()
            # No answer came: wait, then open the driver again.
            if closing.wait(self._retry_s) or self._is_idle():
                return

    def _ask(self, driver: Driver, closing: threading.Event) -> bool:
        """Ask for all devices once, and return whether there was any answer but errors."""
        try:
            count = driver.device_count()
        except Exception as error:  # noqa: BLE001
            self._miss(sentence(error))
            return False
        if not count:
            self._miss(say("devices.lists_none"))
            return False
        retry_ns = int(self._retry_s * 1e9)
        self._devices += [
            Device(index, retry_ns=retry_ns) for index in range(len(self._devices), count)
        ]
        has_told = False
        for index, device in enumerate(self._devices):
            if closing.is_set():
                break
            if index < count:
                has_told |= device.ask(driver)
            else:
                absence = say("devices.lists_no_longer", device=device.name)
                device.answers = absent(device.answers, absence)
            self._answers = self._of_devices()
        return has_told

    def _miss(self, absence: str) -> None:
        for device in self._devices:
            device.answers = absent(device.answers, absence)
        self._answers = self._of_devices() or absent(_NO_DEVICE, absence)

    def _of_devices(self) -> Answers:
        return tuple(answer for device in self._devices for answer in device.answers)

    def _is_idle(self) -> bool:
        return perf_counter_ns() - self._read_ns > _IDLE_NS
