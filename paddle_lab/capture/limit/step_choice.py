"""Chooses training steps that are spread over the whole run and have at most a number of ops."""

from __future__ import annotations

from typing import Final, NamedTuple

OPEN: Final = (1 << 63) - 1
"""The end of a span that is still open."""


class Span(NamedTuple):
    """A span of consecutive ops."""

    first: int
    end: int
    """One more than the key of the last op."""


class _Step(NamedTuple):
    """A training step."""

    span: Span
    start_ns: int
    """The start, by ``perf_counter_ns``."""
    end_ns: int


class StepChoice:
    """Chooses the steps to keep: the first step, every k-th step, and the newest step.

    If the kept steps have too many ops, k is doubled. So the steps of the new choice are among
    those kept before. The ops since the end of the last step are also kept. These ops and the
    newest step have priority over other steps.

    Parameters
    ----------
    most
        How many ops may be kept.
    """

    def __init__(self, most: int) -> None:
        self.ended = 0
        """How many steps have ended."""
        self.every = 1
        """One step in this many is kept, and the newest step."""
        self.is_cut = False
        """Whether ops are missing from the newest step, or from the ops after it."""
        self._most = most
        self._kept: dict[int, _Step] = {}
        self._start = 0
        self._start_ns = 0
        self._is_marked = False

    @property
    def kept(self) -> list[int]:
        """The numbers of the kept steps, from 0."""
        return list(self._kept)

    def end(self, now: int, time_ns: int, *, is_marked: bool) -> None:
        """Record that a step has ended.

        Parameters
        ----------
        now
            How many ops had begun.
        time_ns
            When the step ended, by ``perf_counter_ns``.
        is_marked
            Whether the user marked the end of the step. After the first mark, only marked steps
            count.
        """
        if self._is_marked and not is_marked:
            return
        if is_marked and not self._is_marked:
            self._is_marked = True
            if self._kept:  # all optimizer steps so far become one step
                first = next(iter(self._kept.values()))
                self._start, self._start_ns = first.span.first, first.start_ns
                self._kept, self.ended, self.every = {}, 0, 1
        if now == self._start:
            return
        newest = self.ended - 1
        if newest % self.every:
            self._kept.pop(newest, None)
        self._kept[self.ended] = _Step(Span(self._start, now), self._start_ns, time_ns + 1)
        self.ended += 1
        self._start, self._start_ns = now, time_ns + 1
        self._thin(self._most)

    def spans(self, now: int) -> list[Span]:
        """Return the spans of kept ops, including the ops since the end of the last step."""
        running = max(self._start, now - self._most)
        self._thin(self._most - (now - running))
        self.is_cut |= running > self._start
        return [*(step.span for step in self._kept.values()), Span(running, OPEN)]

    def windows(self) -> list[tuple[int, int]]:
        """Return the start and end of each kept span, by ``perf_counter_ns``."""
        kept = ((step.start_ns, step.end_ns) for step in self._kept.values())
        return [*kept, (self._start_ns, OPEN)]

    def _thin(self, room: int) -> None:
        """Keep fewer steps if the kept steps have more than ``room`` ops."""
        while sum(step.span.end - step.span.first for step in self._kept.values()) > room:
            newest = self.ended - 1
            if len(self._kept) > 2:
                self.every *= 2
                self._kept = {
                    number: step
                    for number, step in self._kept.items()
                    if number % self.every == 0 or number == newest
                }
            elif len(self._kept) == 2:
                del self._kept[next(iter(self._kept))]
            else:
                number, step = self._kept.popitem()
                self.is_cut |= room > 0
                if room > 0:
                    span = Span(step.span.end - room, step.span.end)
                    self._kept[number] = step._replace(span=span)
