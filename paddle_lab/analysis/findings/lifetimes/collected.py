"""Tensors that one line made in several steps, each wanted after the next step had begun."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.lifetimes.steps import Steps

FEWEST_STEPS = 3
"""In how many steps a line does what is called a habit."""


class Collected(NamedTuple):
    """Tensors of one stack that outlived their steps."""

    tensors: list[int]
    """One of each step, by time."""
    together: list[int]
    """Those of them that were there at one moment, the newest included, when they were most."""
    moment: int
    """When they last were: how many ops had been called; one more than all at the trace's end."""


def collected(facts: Facts, steps: Steps) -> Iterator[Collected]:
    """Yield tensors of one stack and of several steps that were still wanted after the next."""
    for tensors in _made_in_several_steps(facts, steps):
        intervals = [steps.interval(facts.producer(tensor)) for tensor in tensors]
        made = {tensor: facts.producer(tensor) for tensor in tensors}
        kept = {steps.interval(made[tensor]) for tensor in steps.alive_together(made)}
        following = _first_of_next(facts, tensors, intervals)
        late = {
            interval
            for tensor, interval, after in zip(tensors, intervals, following, strict=True)
            if 0 <= after < int(steps.last_use[tensor])
        }
        # The last of them has no later step to be used in.
        if len(kept) < FEWEST_STEPS and len(late) < FEWEST_STEPS - 1:
            continue
        found = {
            interval: tensor
            for tensor, interval in zip(tensors, intervals, strict=True)
            if interval in kept | late
        }
        if steps.is_inside_graph(tensors[-1]):
            yield Collected(list(found.values()), *_most_at_once(facts, steps, tensors))


def _most_at_once(facts: Facts, steps: Steps, tensors: list[int]) -> tuple[list[int], int]:
    """Return the most tensors, one of each step, that were there at once, and until when."""
    newest: dict[int, tuple[int, int, int]] = {}
    for tensor in tensors:
        made = facts.producer(tensor)
        end = steps.end_of(tensor)
        first, until, longest = newest.get(steps.interval(made), (made, -1, tensor))
        if end > until:
            until, longest = end, tensor
        newest[steps.interval(made)] = first, until, longest
    # Each step before this one whose tensors end after its first was made.
    pending: list[tuple[int, int]] = []
    most: list[tuple[int, int]] = []
    for made, end, tensor in newest.values():
        pending = pending[bisect_right(pending, made, key=itemgetter(0)) :]
        insort(pending, (end, tensor))
        if len(pending) > len(most):
            most = list(pending)
    return [tensor for _, tensor in most], most[0][0]


def _made_in_several_steps(facts: Facts, steps: Steps) -> Iterator[list[int]]:
    """Yield the tensors that need a gradient and were made at one stack, where steps are enough.

    Left out are those that cannot have been kept: nothing of theirs was used in a later step, and
    nothing seen alive. These are nearly all, of a training loop that is as it should be.
    """
    record = facts.record
    made = steps.made_in_forward
    made = made[record.tensors["stop_gradient"][made] == 0]
    stack = record.ops["stack"][record.tensors["producer"][made]].astype(np.int64)
    order = np.argsort(stack, kind="stable")
    made, stack = made[order], stack[order]
    producer = record.tensors["producer"][made].astype(np.int64)
    interval = steps.intervals(producer)
    group = np.cumsum(np.append(False, stack[1:] != stack[:-1])[: len(stack)])
    pairs = np.unique(group * (len(steps.ends) + 1) + interval)
    intervals = np.bincount(
        pairs // (len(steps.ends) + 1), minlength=int(group.max(initial=-1)) + 1
    )
    is_late = _is_used_late(group, interval, producer, steps.last_use[made])
    is_seen = np.isin(made, np.fromiter(steps.alive_until, np.int64, len(steps.alive_until)))
    late, seen = (np.bincount(group[rows], minlength=len(intervals)) for rows in (is_late, is_seen))
    is_wanted = (intervals >= FEWEST_STEPS) & ((late > FEWEST_STEPS - 2) | (seen >= FEWEST_STEPS))
    starts = np.searchsorted(group, np.arange(len(intervals) + 1))
    wanted = np.flatnonzero(is_wanted)
    for one in wanted[np.argsort(order[starts[wanted]], kind="stable")].tolist():
        tensors: list[int] = made[starts[one] : starts[one + 1]].tolist()
        yield tensors


def _is_used_late(
    group: npt.NDArray[Any],
    interval: npt.NDArray[Any],
    producer: npt.NDArray[Any],
    last_use: npt.NDArray[Any],
) -> npt.NDArray[np.bool_]:
    """Tell of tensors, by group, which were used after the next interval's first was made."""
    is_next = (group[1:] == group[:-1]) & (interval[1:] != interval[:-1])
    ends = np.append(np.flatnonzero((group[1:] != group[:-1]) | is_next), len(group) - 1)
    end = ends[np.searchsorted(ends, np.arange(len(group)))]
    has_next = np.append(is_next, False)[end]
    after = np.append(producer, -1)[end + 1]
    late: npt.NDArray[np.bool_] = has_next & (after < last_use)
    return late


def _first_of_next(facts: Facts, tensors: list[int], intervals: list[int]) -> list[int]:
    """Return, for each tensor, the first op of its stack in the next interval that has one."""
    following, after = [-1] * len(tensors), -1
    for index in range(len(tensors) - 1, -1, -1):
        if index + 1 < len(tensors) and intervals[index] != intervals[index + 1]:
            after = facts.producer(tensors[index + 1])
        following[index] = after
    return following
