"""Reads the flight record of a process that has died."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from paddle_lab.flights.layout import KEY_KINDS, READING_BYTES, RING_BYTES, ROW, paths_of
from paddle_lab.words import say

_FATAL: Final = re.compile(r"^Fatal Python error: (.+)$", re.MULTILINE)
_FRAME: Final = re.compile(r'^ +File "(.+)", line (\d+) in (.+)$', re.MULTILINE)
_RUNNERS: Final = ("interactiveshell.py", "rank_program.py")
"""Files that run cells and scripts. Frames outside of them are not the user's code."""
_CURRENT: Final = re.compile(r"^Current\sthread\s", re.MULTILINE)
_THREAD: Final = re.compile(r"^Thread\s", re.MULTILINE)
_SIGNALS: Final[dict[str | None, str]] = {
    signal.strsignal(number): number.name
    for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
    if (number := getattr(signal, name, None)) is not None
}


@dataclass(frozen=True)
class Line:
    """A line of the user's code."""

    file: str
    line: int
    function: str
    cell: int = -1
    """The cell's execution count; -1 for a file."""
    text: str = ""
    """The text of a cell's line."""

    def __str__(self) -> str:
        if self.cell >= 0:
            return say("flights.place.cell", cell=self.cell, line=self.line)
        return say("flights.place.file", file=self.file, line=self.line)


_NOWHERE: Final = Line("", 0, "")


@dataclass(frozen=True)
class FlightOp:
    """An op, a backward call, or a collective, in a flight record."""

    name: str
    stack: tuple[Line, ...]
    """The user's lines, the innermost first."""
    layer: str
    """The path of the layer that ran the op; ``""`` outside of layers."""
    thread: int
    """The number of the op's thread; 0 is the thread of the cell."""
    time_ns: int
    """When the op began, in ns since 1970."""
    duration_ns: int | None
    """How long the op ran; ``None`` if it was still running."""

    @property
    def place(self) -> Line:
        """The innermost of the user's lines."""
        return self.stack[0] if self.stack else _NOWHERE

    file = property(lambda self: self.place.file)
    line = property(lambda self: self.place.line)

    def __str__(self) -> str:
        layer = say("flights.op.layer", layer=self.layer) if self.layer else ""
        return f"{self.name}{layer}  {self.place}  {self.place.text}".rstrip()


@dataclass
class Flight:
    """What a process did last, read from its flight record."""

    ops: list[FlightOp]
    """The newest ops, in the order in which they began."""
    process: int = 0
    started_s: float = 0.0
    memory_kills: int = -1
    """How many processes had been killed for lack of memory when the record began."""
    title: str = ""
    """The title of the last trace."""
    is_running: bool = False
    """Whether the last trace was still open."""
    is_nested: bool = False
    """Whether a nested trace was open, so that ops were not recorded."""
    was_asked: bool = False
    """Whether the kernel was asked to shut down."""
    stacks: str = ""
    """Python's stacks when the signal came, as ``faulthandler`` wrote them."""
    memory: dict[str, Any] = field(default_factory=dict)
    """The last measurement of memory: ``time_ns``, ``resident_bytes``, ``available_bytes``, and
    ``allocated_bytes`` for each device."""

    @property
    def signal(self) -> str:
        """The name of the signal that ended the process, or Python's fatal error; else ``""``."""
        found = _FATAL.search(self.stacks)
        if found:
            return _SIGNALS.get(found[1].replace("-", " "), found[1])
        return "SIGTERM" if self.stacks.strip() else ""

    @property
    def signal_stack(self) -> list[Line]:
        """The stack of the thread that received the signal, the innermost line last.

        A thread of a library, such as gloo, has none. Then it is the main thread's stack.
        """
        cells = {line.file: line.cell for op in self.ops for line in op.stack}
        # faulthandler writes the main thread last.
        begin = _CURRENT if _CURRENT.search(self.stacks) else _THREAD
        current = begin.split(self.stacks)[-1]
        found = []
        for file, line, function in _FRAME.findall(current.partition("\n\n")[0]):
            if file.endswith(_RUNNERS):
                break
            found.append(Line(file, int(line), function, cells.get(file, -1)))
        return found[::-1]

    @property
    def last_place(self) -> tuple[str, int]:
        """The file and line of the user's code at the signal, or of the newest op."""
        files = {line.file for op in self.ops for line in op.stack}
        at_signal = [line for line in self.signal_stack if line.file in files][-1:]
        newest = [op.place for op in self.ops[-1:]]
        return next(((line.file, line.line) for line in [*at_signal, *newest]), ("", 0))

    @property
    def in_flight(self) -> list[FlightOp]:
        """The ops that were running, the outermost op first."""
        return [op for op in self.ops if op.duration_ns is None] if self.is_running else []


def read_flight(folder: Path, name: str) -> Flight | None:
    """Read a flight record; ``None`` if its files are missing or incomplete."""
    ring_path, notes_path = paths_of(folder, name)
    try:
        ring = ring_path.read_bytes()
        lines = notes_path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    flight, traces, perf_ns = _read_notes(lines)
    if not flight.process or len(ring) < RING_BYTES:
        return None
    rows = np.frombuffer(ring, ROW, offset=READING_BYTES)
    rows = np.sort(rows[rows["number"] > 0], order="number")
    at = np.searchsorted([after for after, _ in traces], rows["number"], side="left") - 1
    flight.ops = [
        _op(row, traces[trace][1], perf_ns)
        for row, trace in zip(rows.tolist(), at.tolist(), strict=True)
        if trace >= 0
    ]
    told = _json(ring[:READING_BYTES].split(b"\0", 1)[0].decode("utf-8", "replace"))
    flight.memory = told or {}
    return flight


_Names = dict[tuple[str, int], Any]


def _read_notes(lines: list[str]) -> tuple[Flight, list[tuple[int, _Names]], int]:
    """Return the flight without ops, the names of each trace, and the offset to clock time."""
    flight, traces, clock_ns = Flight([]), list[tuple[int, _Names]](), 0
    plain: list[str] = []
    for line in lines:
        note = _json(line)
        kind = note.get("kind") if note is not None else None
        if note is None or kind is None:
            plain.append(line)
        elif kind == "process":
            flight.process, flight.started_s = note["process"], note["started_s"]
            flight.memory_kills = note["memory_kills"]
            clock_ns = note["time_ns"] - note["perf_ns"]
        elif kind == "trace":
            flight.title, flight.is_running, flight.is_nested = note["title"], True, False
            traces.append((note["after"], {}))
        elif kind == "trace_end":
            flight.is_running = False
        elif kind in {"nested", "nested_end"}:
            flight.is_nested = kind == "nested"
        elif kind == "shutdown":
            flight.was_asked = True
        elif kind in KEY_KINDS and traces:
            what = note["what"]
            traces[-1][1][kind, note["key"]] = (
                tuple(Line(*cells) for cells in what) if kind == "stack" else what
            )
    flight.stacks = "\n".join(plain).strip()
    return flight, traces, clock_ns


def _op(row: tuple[int, ...], names: Mapping[tuple[str, int], Any], clock_ns: int) -> FlightOp:
    _, start_ns, duration_ns, name, stack, layer, thread = row
    return FlightOp(
        names.get(("name", name), ""),
        names.get(("stack", stack), ()),
        names.get(("layer", layer), ""),
        thread,
        start_ns + clock_ns,
        None if duration_ns < 0 else duration_ns,
    )


def _json(line: str) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None
