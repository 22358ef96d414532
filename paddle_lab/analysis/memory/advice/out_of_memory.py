"""An out-of-memory error: the failed request, the living blocks, and advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paddle_lab.analysis.memory.advice.advice import advice
from paddle_lab.analysis.memory.advice.failed_request import (
    FailedRequest,
    failed_request,
    is_out_of_memory,
)
from paddle_lab.analysis.memory.allocations import AllocationTable
from paddle_lab.analysis.memory.breakdown import Breakdown
from paddle_lab.analysis.memory.place import PlaceMemory
from paddle_lab.analysis.tables.ops import Op
from paddle_lab.words import say

_SHOWN = 8


@dataclass(frozen=True)
class OutOfMemory:
    """What is known about an out-of-memory error."""

    request: FailedRequest
    """The failed allocation, and the op that requested it."""
    allocated_bytes: int
    """The bytes that were allocated when the error was raised."""
    time_ns: int
    """When the error was raised."""
    alive: AllocationTable
    """The blocks that were alive, largest first."""
    by_line: Breakdown
    """The same blocks, grouped by line."""
    advice: Sequence[str]
    """Sentences of advice, the most promising first."""

    @property
    def op(self) -> Op | None:
        """The op that raised the error; None if backward raised it."""
        return self.request.op

    @property
    def requested_bytes(self) -> int | None:
        """The bytes that Paddle could not allocate, None if the error does not say."""
        return self.request.requested_bytes

    @property
    def available_bytes(self) -> int | None:
        """The free bytes of the device, None if the error does not say."""
        return self.request.available_bytes

    def __repr__(self) -> str:
        return "\n\n".join(
            part
            for part in (
                self.request.headline(self.allocated_bytes),
                f"{say('memory.oom.alive')}\n{self.alive[:_SHOWN]!r}",
                repr(self.by_line),
                what_to_do(self.advice),
            )
            if part
        )


def what_to_do(sentences: Sequence[str]) -> str:
    """Return advice as a list with a title."""
    return "\n".join([say("memory.oom.what_to_do"), *(f"• {sentence}" for sentence in sentences)])


def out_of_memory(memory: PlaceMemory) -> OutOfMemory | None:
    """Return the facts about a trace's out-of-memory error, None if there was no such error.

    Parameters
    ----------
    memory
        Memory of the place that ran out.
    """
    text = memory.record.origin.exception
    if not is_out_of_memory(text):
        return None
    request = failed_request(memory.attribution.ops, text)
    time_ns = _moment(memory, request.op)
    return OutOfMemory(
        request=request,
        allocated_bytes=memory.timeline.at(time_ns),
        time_ns=time_ns,
        alive=memory.alive_at(time_ns),
        by_line=memory.by_line(time_ns),
        advice=advice(memory, time_ns=time_ns, request=request),
    )


def _moment(memory: PlaceMemory, op: Op | None) -> int:
    """Return the moment with the most memory while the op that raised the error ran.

    The op's blocks are freed before the error reaches the user's code. For an error in backward,
    the op is unknown. Then the search begins at the last op.
    """
    ops = memory.record.ops
    if not len(ops):
        return memory.timeline.end_ns
    since_ns = op.start_ns if op else int(ops["start_ns"].max())
    until_ns = since_ns + op.duration_ns if op else memory.timeline.end_ns
    times = memory.timeline.time_ns
    first, end = np.searchsorted(times, [since_ns, max(since_ns, until_ns) + 1]).tolist()
    if first == end:
        return since_ns
    return int(times[first + int(memory.timeline.allocated_bytes[first:end].argmax())])
