"""Tensors that one line made in several steps, each wanted after the next step had begun."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.lifetimes.steps import Steps

FEWEST_STEPS = 3
"""In how many steps a line does what is called a habit."""
_NEVER = np.iinfo(np.int64).max


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
    for of_step, late in _made_in_several_steps(facts, steps):
        tensors = [tensor for made in of_step.values() for tensor in made]
        together = steps.alive_together({tensor: facts.producer(tensor) for tensor in tensors})
        kept = {steps.interval(facts.producer(tensor)) for tensor in together}
        # The last of them has no later step to be used in.
        if len(kept) < FEWEST_STEPS and len(late) < FEWEST_STEPS - 1:
            continue
        if steps.is_inside_graph(tensors[-1]):
            found = [made[-1] for step, made in of_step.items() if step in kept | late]
            yield Collected(found, *_most_at_once(facts, steps, of_step))


def _most_at_once(
    facts: Facts, steps: Steps, of_step: dict[int, list[int]]
) -> tuple[list[int], int]:
    """Return the most tensors, one of each step, that were there at once, and until when."""
    # Each step before this one whose tensors end after its first was made.
    pending: list[tuple[int, int]] = []
    most: list[tuple[int, int]] = []
    for tensors in of_step.values():
        longest = max(tensors, key=steps.end_of)
        pending = pending[bisect_right(pending, facts.producer(tensors[0]), key=itemgetter(0)) :]
        insort(pending, (steps.end_of(longest), longest))
        if len(pending) > len(most):
            most = list(pending)
    return [tensor for _, tensor in most], most[0][0]


def _made_in_several_steps(
    facts: Facts, steps: Steps
) -> Iterator[tuple[dict[int, list[int]], set[int]]]:
    """Yield the tensors of one stack that need a gradient, by step, where steps are enough.

    Left out are those that cannot have been kept: nothing of theirs was used in a later step, and
    nothing seen alive. These are nearly all, of a training loop that is as it should be.

    Yields
    ------
    of_step, late
        The tensors of each step, and the steps of those that were used after the next had begun.
    """
    record = facts.record
    made = steps.made_in_forward
    made = made[record.tensors["stop_gradient"][made] == 0]
    if not len(made):
        return
    stack = record.ops["stack"][record.tensors["producer"][made]]
    order = np.argsort(stack, kind="stable")
    made, stack = made[order], stack[order]
    producer = record.tensors["producer"][made].astype(np.int64)
    step = steps.intervals(producer)
    is_first = np.append(True, stack[1:] != stack[:-1])
    is_first_of_step = is_first | np.append(True, step[1:] != step[:-1])
    group = np.cumsum(is_first) - 1
    begins = np.flatnonzero(is_first_of_step)
    # When the next step that has one of the stack made its first.
    following = np.append(np.where(is_first[begins[1:]], _NEVER, producer[begins[1:]]), _NEVER)
    is_late = steps.last_use[made] > following[np.cumsum(is_first_of_step) - 1]
    is_seen = np.isin(made, np.fromiter(steps.alive_until, np.int64, len(steps.alive_until)))
    groups = int(group[-1]) + 1
    in_steps, late, seen = (
        np.bincount(group[rows], minlength=groups) for rows in (begins, is_late, is_seen)
    )
    is_wanted = (in_steps >= FEWEST_STEPS) & ((late > FEWEST_STEPS - 2) | (seen >= FEWEST_STEPS))
    starts = np.append(np.flatnonzero(is_first), len(made))
    wanted = np.flatnonzero(is_wanted)
    for one in wanted[np.argsort(made[starts[wanted]])].tolist():
        rows = slice(starts[one], starts[one + 1])
        of_step: dict[int, list[int]] = {}
        for tensor, at in zip(made[rows].tolist(), step[rows].tolist(), strict=True):
            of_step.setdefault(at, []).append(tensor)
        yield of_step, set(step[rows][is_late[rows]].tolist())
