"""Describes in words how a process died."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.flights.flight import Flight, FlightOp
from paddle_lab.flights.memory_kills import kernel_message, memory_kill_count
from paddle_lab.words import say

_SHOWN_OPS: Final = 8
_SHOWN_LINES: Final = 8
_EXPLAINED: Final = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTERM")


class Crash:
    """Tells how a kernel or a rank ended, and what it did last. Print this object to read it.

    Parameters
    ----------
    flight
        The flight record that the process left.
    ending
        How the process ended, if the caller knows: for example the exit status.
    """

    def __init__(self, flight: Flight, ending: str = "") -> None:
        self.flight = flight
        self.signal = flight.signal
        """The name of the signal, such as ``"SIGSEGV"``; ``""`` if it is unknown."""
        self.title = flight.title
        """The title of the last trace, which names the cell."""
        self.ops: list[FlightOp] = flight.ops
        """The last ops, the newest last. Each has ``name``, ``file``, ``line``, ``stack``,
        ``layer``, ``time_ns`` and ``duration_ns``."""
        self.in_flight: list[FlightOp] = flight.in_flight
        """The ops that were still running."""
        self.memory = flight.memory
        """The last measurement of memory. While a cell ran, it was at most a second old."""
        self.signal_stack = flight.signal_stack
        """Python's stack in the thread that received the signal, the innermost line last."""
        self.stacks = flight.stacks
        """Python's stacks of all threads at the signal, as ``faulthandler`` wrote them."""
        self.kernel_message = "" if flight.was_asked else kernel_message(flight.process)
        """The operating system's message about the process; ``""`` if there is none to read."""
        self._ending = ending
        now = memory_kill_count()
        self._memory_kills = now - flight.memory_kills if flight.memory_kills >= 0 else 0

    def __str__(self) -> str:
        return "\n".join(self._paragraphs())

    __repr__ = __str__

    def _paragraphs(self) -> Iterable[str]:
        yield self._headline()
        if self.signal in _EXPLAINED:
            yield say(f"flights.signal.{self.signal.lower()}")
        elif not (self.signal or self.kernel_message or self.flight.was_asked or self._ending):
            yield say("flights.signal.none")
        yield from self._about_memory()
        innermost = {op.thread: op for op in self.in_flight}
        for op in innermost.values():
            yield say("flights.in_flight", op=str(op))
        if self.flight.is_running and self.ops and not innermost:
            yield say("flights.nested" if self.flight.is_nested else "flights.between_ops")
        if self.ops:
            yield say("flights.last_ops", n=len(self.ops), shown=min(_SHOWN_OPS, len(self.ops)))
            yield from (f"  {op}" for op in self.ops[-_SHOWN_OPS:])
        if self.signal_stack:
            yield say("flights.python_stack")
            for line in self.signal_stack[-_SHOWN_LINES:]:
                yield say("flights.frame", place=str(line), function=line.function)
        if not self._ending:
            yield say("flights.more")

    def _headline(self) -> str:
        newest = self.ops[-1] if self.ops else None
        last_ns = max(self.memory.get("time_ns", 0), newest.time_ns if newest else 0)
        when = _clock(last_ns)
        if self._ending:
            return say("flights.ended.known", ending=self._ending)
        if self.flight.was_asked:
            return say("flights.ended.asked", title=self.title, time=when)
        where = "during" if self.flight.is_running else "after"
        if self.signal:
            return say(f"flights.ended.signal_{where}", title=self.title, signal=self.signal)
        return say("flights.ended.silent", title=self.title, time=when)

    def _about_memory(self) -> Iterable[str]:
        if self.kernel_message:
            yield say("flights.memory.message", message=self.kernel_message)
        elif self._memory_kills > 0:
            yield say("flights.memory.kills", n=self._memory_kills)
        if self.memory:
            yield say(
                "flights.memory.reading",
                time=_clock(self.memory["time_ns"]),
                resident=size_text(self.memory["resident_bytes"]),
                available=size_text(self.memory["available_bytes"]),
            )
            for device, size in self.memory.get("allocated_bytes", {}).items():
                yield say("flights.memory.allocated", device=device, size=size_text(size))


def _clock(time_ns: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(time_ns / 1e9))


def is_crash(flight: Flight) -> bool:
    """Tell whether the record of a dead process should be reported.

    A kernel that was shut down or killed between two traced cells did not crash, as far as known.
    """
    fatal = flight.signal not in {"", "SIGTERM"}
    return flight.is_running or (fatal and not flight.was_asked)
