"""An out-of-memory error: what was asked for, what was alive, what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paddle_lab.analysis.memory.advice import advice
from paddle_lab.analysis.memory.allocation_table import AllocationTable
from paddle_lab.analysis.memory.breakdown import Breakdown
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.op import Op
from paddle_lab.trace.record import Record

if TYPE_CHECKING:
    from paddle_lab.analysis.memory.memory import Memory

_SIGNS = re.compile(r"ResourceExhausted|[Oo]ut of memory error on|Fail to alloc memory")
_REQUESTED = re.compile(r"Cannot allocate (?P<size>\d{1,9}(?:\.\d{1,9})?)(?P<unit>[KMGT]?B)")
_REQUESTED_BYTES = re.compile(r"Fail to alloc memory of (?P<size>\d{1,20}) size")
_AVAILABLE = re.compile(
    r"available memory is only (?P<size>\d{1,9}(?:\.\d{1,9})?)(?P<unit>[KMGT]?B)"
)
_UNITS: dict[str, int] = {
    unit: 1024**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB"))
}
_SHOWN = 8


@dataclass(frozen=True)
class OutOfMemory:
    """What was found at an out-of-memory error."""

    requested_bytes: int | None
    """What Paddle could not allocate, None where the error does not say."""
    available_bytes: int | None
    """What the device still had, None where the error does not say."""
    allocated_bytes: int
    """What was allocated when the error was raised."""
    time_ns: int
    """When it was raised."""
    op: Op | None
    """The op that raised it; None where it was raised inside backward."""
    alive: AllocationTable
    """What was alive, largest first."""
    by_line: Breakdown
    """The same by line."""
    advice: Sequence[str]
    """Sentences that fit what was found, the most promising first."""

    def __repr__(self) -> str:
        return "\n\n".join(
            part
            for part in (
                self._headline(),
                f"Alive when it happened, largest first\n{self.alive[:_SHOWN]!r}",
                repr(self.by_line),
                "\n".join(["What to do", *(f"• {sentence}" for sentence in self.advice)]),
            )
            if part
        )

    def _headline(self) -> str:
        asked = "" if self.requested_bytes is None else f" {size_text(self.requested_bytes)}"
        who = ""
        if self.op is not None:
            layer = f" in {self.op.layer}" if self.op.layer else ""
            line = f" at {self.op.where}" if self.op.where else ""
            who = f": {self.op.name}{layer}{line} asked for{asked or ' more'}"
        elif asked:
            who = f": {asked.strip()} asked for"
        left = "" if self.available_bytes is None else f", {size_text(self.available_bytes)} free"
        return f"Out of memory{who}, {size_text(self.allocated_bytes)} allocated{left}"


def is_out_of_memory(text: str) -> bool:
    """Return whether the text of an exception is Paddle's out-of-memory error."""
    return bool(_SIGNS.search(text))


def out_of_memory(memory: Memory, record: Record) -> OutOfMemory | None:
    """Return what was found at a trace's out-of-memory error, None if it ended otherwise.

    Parameters
    ----------
    memory
        Memory of the place that ran out.
    record
        A record with answer tables.
    """
    text = record.origin.exception
    if not is_out_of_memory(text):
        return None
    op, time_ns = _moment(memory, record)
    requested, available = requested_bytes(text), _size(_AVAILABLE, text)
    by_line = memory.by_line(time_ns)
    return OutOfMemory(
        requested_bytes=requested,
        available_bytes=available,
        allocated_bytes=memory.timeline.at(time_ns),
        time_ns=time_ns,
        op=op,
        alive=memory.alive_at(time_ns),
        by_line=by_line,
        advice=advice(memory, record, time_ns=time_ns, requested_bytes=requested, op=op),
    )


def requested_bytes(text: str) -> int | None:
    """Return what Paddle could not allocate, from its error's text; None if it does not say."""
    exact = _REQUESTED_BYTES.search(text)
    return int(exact["size"]) if exact else _size(_REQUESTED, text)


def _size(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    if found is None:
        return None
    return round(float(found["size"]) * _UNITS[found["unit"]])


def _moment(memory: Memory, record: Record) -> tuple[Op | None, int]:
    """Return the op that raised the error, if one did, and when most was allocated in it.

    What it had already allocated is freed while the error passes through it, so the error itself
    comes after the moment that matters. Backward leaves no op, so the moment is then sought from
    the last op on.
    """
    ops = record.ops
    if not len(ops):
        return None, memory.timeline.end_ns
    raised = np.flatnonzero(ops["raised"])
    # A PyLayer's own op is raised through too; the innermost one starts last.
    last = int(raised[np.argmax(ops["start_ns"][raised])]) if len(raised) else -1
    op = memory.attribution.ops[last] if last >= 0 else None
    since_ns = int(ops["start_ns"][last]) if op else int(ops["start_ns"].max())
    until_ns = since_ns + int(ops["duration_ns"][last]) if op else memory.timeline.end_ns
    times = memory.timeline.time_ns
    first, end = np.searchsorted(times, [since_ns, max(since_ns, until_ns) + 1]).tolist()
    if first == end:
        return op, since_ns
    return op, int(times[first + int(memory.timeline.allocated_bytes[first:end].argmax())])
