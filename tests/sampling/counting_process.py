"""A process that reads NVML's counters with the real ``pynvml``, one command per line.

``python counting_process.py`` reads commands from its input, and answers each with a line of JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60
RETRY_S = 0.2


class CountingProcess:
    """The process, seen from a test.

    Parameters
    ----------
    environment
        What is set for it beside the test's own.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | self._environment,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.stdin.close()
        assert self._process.wait(WAIT_S) == 0
        self._process.stdout.close()

    def tell(self, command: str) -> Any:
        """Return the answer to a command; the methods of ``_Counting`` are the commands."""
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def until(self, is_so: Callable[[list[int], list[str]], bool]) -> tuple[list[int], list[str]]:
        """Read until the values and absences are as expected, and return them."""
        begin_s = time.monotonic()
        while time.monotonic() - begin_s < WAIT_S:
            values, absences = self.tell("read")
            if is_so(values, absences):
                return values, absences
            time.sleep(0.01)
        raise AssertionError(f"after {WAIT_S} s still {values}, {absences}")

    def values(self, *expected: int) -> list[str]:
        """Wait for values, and return the absences."""
        return self.until(lambda values, _: values == list(expected))[1]

    def sentence(self, words: str) -> tuple[list[int], list[str]]:
        """Wait until an absence contains some words, and return values and absences."""
        return self.until(lambda _, absences: any(words in absence for absence in absences))


class _Counting:
    """The commands of the process."""

    def __init__(self) -> None:
        from paddle_lab.sampling.nvml import NvmlCounters

        self._new = lambda: NvmlCounters(retry_s=RETRY_S)
        self._counters = self._new()

    def read(self) -> Any:
        """Values, and the counters' absences."""
        values = list(self._counters.read(time.perf_counter_ns()))
        return values, [counter.absence for counter in self._counters.counters()]

    def names(self) -> Any:
        """Device, name and limit of each counter."""
        return [[each.device, each.name, each.limit] for each in self._counters.counters()]

    def close(self) -> Any:
        """Stop asking the driver."""
        self._counters.close()

    def renew(self) -> Any:
        """Stop asking the driver, and go on with new counters, as another chart does."""
        self._counters.close()
        self._counters = self._new()

    def calls(self) -> Any:
        """How often the driver was started, stopped, and asked."""
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return [library.standInBegan(), library.standInEnded(), library.standInAsked()]

    def threads(self) -> Any:
        """Names of the threads that run."""
        return [thread.name for thread in threading.enumerate()]

    def threads_after_a_read(self) -> Any:
        """The same names, after the thread that a read starts has had time to end."""
        self.read()
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join(WAIT_S)
        return self.threads()

    def shut_down(self) -> Any:
        """Call ``nvmlShutdown`` as the user's own code may."""
        import pynvml

        pynvml.nvmlShutdown()

    def sample(self) -> Any:
        """Let a sampler take twenty samples, and return the last."""
        from paddle_lab.sampling.process import ProcessCounters
        from paddle_lab.sampling.sampler import Sampler

        sampler = Sampler([self._counters, ProcessCounters()])
        sampler.start()
        begin_s = time.monotonic()
        while len(rows := sampler.window(0, 2**62)) < 20 and time.monotonic() - begin_s < WAIT_S:
            time.sleep(0.01)
        sampler.stop()
        return rows[-1, 1:].tolist(), [counter.absence for counter in sampler.counters]

    def fork(self) -> Any:
        """Read in a forked child until it has asked for itself, and return what it is told."""
        receives, sends = os.pipe()
        if (child := os.fork()) == 0:
            with suppress(BaseException):
                begin_s, asked = time.monotonic(), self.calls()[2]
                while self.calls()[2] < asked + 10:
                    values, _ = self.read()
                    time.sleep(0.01)
                    assert time.monotonic() - begin_s < WAIT_S
                os.write(sends, json.dumps(values).encode())
            os._exit(0)
        os.close(sends)
        with os.fdopen(receives) as answer:
            told = answer.read()
        os.waitpid(child, 0)
        return json.loads(told or "null")


def _answer_commands() -> None:
    counting = _Counting()
    for line in sys.stdin:
        print(json.dumps(getattr(counting, line.strip())()), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    _answer_commands()
