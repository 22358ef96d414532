"""The ``no_grad`` under which an op was called, and the user's line inside it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from paddle_lab.analysis.findings.facts import Event, Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.source.stacks import Frame


class GradientModes:
    """When gradients were switched off, for each thread."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        switches = [
            *((event, True) for event in facts.events("gradient_off")),
            *((event, False) for event in facts.events("gradient_on")),
        ]
        self._switches: dict[int, list[tuple[Event, bool]]] = {}
        for event, is_off in sorted(switches):
            self._switches.setdefault(event.thread, []).append((event, is_off))

    def switched_off_by(self, op: int) -> Event | None:
        """Return the ``gradient_off`` event under which an op ran, None if gradients were on."""
        switches = self._switches.get(int(self._facts.record.ops["thread"][op]), [])
        last = bisect_right(switches, op, key=lambda switch: switch[0].ops_before) - 1
        event, is_off = switches[last] if last >= 0 else (None, False)
        return event if is_off else None

    def is_of_paddles_layers(self, event: Event) -> bool:
        """Tell whether one of Paddle's own layers switched gradients off, not the user's code.

        Such layers do it by design, for example ``spectral_norm`` when it estimates a weight's
        norm.
        """
        for frame, _ in self._frames(event.stack):
            file = frame.file.replace("\\", "/")
            if "/paddle/base/" not in file:  # where no_grad itself is
                return frame.kind == "paddle" and "/paddle/nn/" in file
        return False

    def place(self, op: int, event: Event) -> Place:
        """Return the line that called an op, in the function that contains the ``with no_grad``.

        For a decorated function it is a line of the function itself.
        """
        calls = {call for _, call in self._frames(event.stack)}
        inner: Place | None = None
        for frame, call in self._frames(self._facts.stack(op)):
            inner = (Place.of(frame) if frame.kind == "user" else None) or inner
            if call in calls:
                break
        else:
            inner = None
        return inner or self._facts.place(op)

    def _frames(self, stack: int) -> Iterator[tuple[Frame, object]]:
        """Yield the frames of a stack, from the innermost out, each with a key of its call.

        The key is the caller's stack and the function: it is equal for all lines of one call.
        """
        stacks = self._facts.record.stacks
        while stack >= 0:
            row, caller = int(stacks["frame"][stack]), int(stacks["caller"][stack])
            if row >= 0:
                frame = Frame(self._facts.record, row)
                yield frame, (caller, frame.cell, frame.file, frame.function)
            stack = caller
