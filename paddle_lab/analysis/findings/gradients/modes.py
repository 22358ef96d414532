"""Under which ``no_grad`` an op was called, and the line inside of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from paddle_lab.analysis.findings.facts import Event, Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.source.stacks import Frame

_Level = tuple[int, ...]
"""caller's stack, cell, file, function: one call of a function, wherever in it."""


class GradientModes:
    """When gradients were switched off, thread by thread."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def _switches(self) -> dict[int, tuple[list[int], list[Event | None]]]:
        """For each thread, after how many ops gradients were switched; off by an event, or on."""
        switched: list[tuple[Event, Event | None]] = [
            *((event, event) for event in self._facts.events("gradient_off")),
            *((event, None) for event in self._facts.events("gradient_on")),
        ]
        switches: dict[int, tuple[list[int], list[Event | None]]] = {}
        for event, switch in sorted(switched, key=lambda one: one[0].row):
            positions, found = switches.setdefault(event.thread, ([], []))
            positions.append(event.ops_before)
            found.append(switch)
        return switches

    def switched_off_by(self, op: int) -> Event | None:
        """Return the ``gradient_off`` event under which an op ran, None where gradients were on."""
        thread = int(self._facts.record.ops["thread"][op])
        positions, switches = self._switches.get(thread, ([], []))
        last = bisect_right(positions, op) - 1
        return switches[last] if last >= 0 else None

    def is_of_paddles_layers(self, event: Event) -> bool:
        """Tell whether a layer of Paddle's own switched gradients off, not the user's code.

        It does so by design: to estimate what is no part of the model's output, as
        ``spectral_norm`` does a weight's norm.
        """
        for frame, _ in self._frames(event.stack):
            file = frame.file.replace("\\", "/")
            if "/paddle/base/" not in file:  # where no_grad itself is
                return frame.kind == "paddle" and "/paddle/nn/" in file
        return False

    def place(self, op: int, event: Event) -> Place:
        """Return the line that called an op, in the function whose ``with`` the event was.

        For a decorated function it is the line of its own.
        """
        levels = {level for _, level in self._frames(event.stack)}
        inner: Place | None = None
        for frame, level in self._frames(self._facts.stack(op)):
            place = Place.of(frame) if frame.kind == "user" else None
            if level in levels:
                return place or inner or self._facts.place(op)
            inner = place or inner
        return self._facts.place(op)

    def _frames(self, stack: int) -> Iterator[tuple[Frame, _Level]]:
        """Yield the frames of a stack, from the innermost out."""
        record = self._facts.record
        frames, callers = record.stacks["frame"], record.stacks["caller"]
        while stack >= 0:
            frame, caller = int(frames[stack]), int(callers[stack])
            if frame >= 0:
                names = (int(record.frames[name][frame]) for name in ("cell", "file", "function"))
                yield Frame(record, frame), (caller, *names)
            stack = caller
