"""Training steps spread over a whole run, of which only so many ops are kept."""

from __future__ import annotations

from typing import NamedTuple

from paddle_lab.capture.limit.spans import OPEN, Span

_FEW = 64


class StepsTold(NamedTuple):
    """What was kept of a run."""

    ended: int
    """How many steps ended."""
    kept: tuple[int, ...]
    """Numbers of those that are kept, from 0."""
    every: int
    """Every so manyth is kept, and the newest."""
    is_cut: bool
    """Whether the newest step, or what came after it, is not whole."""


class StepChoice:
    """Chooses the steps to keep: the first, every k-th from it, the newest.

    Where they become too many ops, k doubles: what is kept for the higher k was kept for the lower
    one. What has run since the last step ended is kept as well; it and the newest step go before
    all others.

    Parameters
    ----------
    most
        How many ops may be kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._kept: dict[int, Span] = {}
        self._times_ns: dict[int, tuple[int, int]] = {}
        """Of the kept steps, when they began and ended."""
        self._start_ns = 0
        self._ended = 0
        self._start = 0
        self._is_cut = False
        self._is_marked = False

    def end(self, now: int, time_ns: int, *, is_marked: bool) -> None:
        """Note that a step has ended.

        Parameters
        ----------
        now
            How many ops had a key.
        time_ns
            When it ended, by ``perf_counter_ns``.
        is_marked
            By the user's own mark: from the first one on, these alone count.
        """
        if self._is_marked and not is_marked:
            return
        if is_marked and not self._is_marked:
            self._is_marked = True
            if self._kept:  # what optimizers ended so far was all one step
                self._start = next(iter(self._kept.values())).first
                self._start_ns = self._times_ns[next(iter(self._kept))][0]
                self._times_ns = {}
                self._kept, self._ended, self._every = {}, 0, 1
        if now == self._start:
            return
        self._times_ns[self._ended] = (self._start_ns, time_ns + 1)
        self._start_ns = time_ns + 1
        newest = self._ended - 1
        if newest % self._every:
            self._kept.pop(newest, None)
        self._kept[self._ended] = Span(self._start, now)
        self._ended += 1
        self._start = now
        self._thin(self._most)
        if len(self._times_ns) > 2 * len(self._kept) + _FEW:
            self._times_ns = {step: self._times_ns[step] for step in self._kept}

    def spans(self, now: int) -> list[Span]:
        """Return what is kept by now, with what has run since the last step ended."""
        running = max(self._start, now - self._most)
        self._thin(self._most - (now - running))
        self._is_cut |= running > self._start
        return [*self._kept.values(), Span(running, OPEN)]

    def windows(self) -> list[tuple[int, int]]:
        """Return from when to when what is kept by now lasted, by ``perf_counter_ns``."""
        kept = (self._times_ns[step] for step in self._kept)
        return [*kept, (self._start_ns, OPEN)]

    def told(self) -> StepsTold:
        """Return what was kept, after the last step."""
        return StepsTold(self._ended, tuple(self._kept), self._every, self._is_cut)

    def _thin(self, room: int) -> None:
        """Keep fewer steps where they have more ops than there is room for."""
        while self._kept and sum(end - first for first, end in self._kept.values()) > room:
            newest = self._ended - 1
            if len(self._kept) > 2:
                self._every *= 2
                self._kept = {
                    step: span
                    for step, span in self._kept.items()
                    if step % self._every == 0 or step == newest
                }
            elif len(self._kept) == 2:
                del self._kept[next(iter(self._kept))]
            else:
                step, (_, end) = self._kept.popitem()
                self._is_cut |= room > 0
                if room > 0:
                    self._kept[step] = Span(end - room, end)
