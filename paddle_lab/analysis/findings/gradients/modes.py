"""Under which ``no_grad`` an op was called, and the line inside of it."""

from __future__ import annotations

from bisect import bisect_right

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.source.stacks import Frame
from paddle_lab.trace.schema import EVENT_KINDS

_OFF, _ON = EVENT_KINDS.index("gradient_off"), EVENT_KINDS.index("gradient_on")
_Level = tuple[int, int, int, int]
"""caller's stack, cell, file, function: one call of a function, wherever in it."""


class GradientModes:
    """When gradients were switched off, thread by thread.

    Parameters
    ----------
    facts
        The record that is asked.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        events = facts.record.events
        self._switches: dict[int, tuple[list[int], list[int]]] = {}
        for event, kind in enumerate(events["kind"].tolist()):
            if kind in (_OFF, _ON):
                positions, rows = self._switches.setdefault(int(events["thread"][event]), ([], []))
                positions.append(int(events["ops_before"][event]))
                rows.append(event)

    def switched_off_by(self, op: int) -> int:
        """Return the ``gradient_off`` event under which an op ran, or -1."""
        thread = int(self._facts.record.ops["thread"][op])
        positions, rows = self._switches.get(thread, ([], []))
        found = bisect_right(positions, op) - 1
        if found < 0 or self._facts.record.events["kind"][rows[found]] == _ON:
            return -1
        return rows[found]

    def is_of_paddles_layers(self, event: int) -> bool:
        """Tell whether a layer of Paddle's own switched gradients off, not the user's code.

        It does so by design: to estimate what is no part of the model's output, as
        ``spectral_norm`` does a weight's norm.
        """
        for stack in self._chain(int(self._facts.record.events["stack"][event])):
            frame = Frame(self._facts.record, int(self._facts.record.stacks["frame"][stack]))
            file = frame.file.replace("\\", "/")
            if "/paddle/base/" not in file:  # where no_grad itself is
                return frame.kind == "paddle" and "/paddle/nn/" in file
        return False

    def place(self, op: int, event: int) -> Place:
        """Return the line that called an op, in the function whose ``with`` the event was.

        For a decorated function it is the line of its own.
        """
        record = self._facts.record
        levels = {self._level(stack) for stack in self._chain(int(record.events["stack"][event]))}
        inner: Place | None = None
        for stack in self._chain(int(record.ops["stack"][op])):
            frame = Frame(record, int(record.stacks["frame"][stack]))
            place = Place.of(frame) if frame.kind == "user" else None
            if self._level(stack) in levels:
                return place or inner or self._facts.place(op)
            inner = place or inner
        return self._facts.place(op)

    def _chain(self, stack: int) -> list[int]:
        frames, callers = self._facts.record.stacks["frame"], self._facts.record.stacks["caller"]
        chain = []
        while stack >= 0:
            if frames[stack] >= 0:
                chain.append(stack)
            stack = int(callers[stack])
        return chain

    def _level(self, stack: int) -> _Level:
        stacks, frames = self._facts.record.stacks, self._facts.record.frames
        frame = int(stacks["frame"][stack])
        return (
            int(stacks["caller"][stack]),
            int(frames["cell"][frame]),
            int(frames["file"][frame]),
            int(frames["function"][frame]),
        )
