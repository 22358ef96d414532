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
"""In how many steps a line must do something for it to count as a habit."""


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
    made = steps.made_in_forward
    made = made[facts.record.tensors["stop_gradient"][made] == 0]
    producer = facts.record.tensors["producer"][made]
    stack, step = facts.record.ops["stack"][producer], steps.intervals(producer)
    # Of nearly all stacks no tensor is used in a later step or seen alive between ops.
    is_kept = (steps.intervals(steps.last_use[made]) > step) | np.isin(made, [*steps.alive_until])
    is_kept = np.isin(stack, stack[is_kept])
    by_stack: dict[int, dict[int, list[int]]] = {}
    for tensor, at in zip(made[is_kept].tolist(), step[is_kept].tolist(), strict=True):
        by_stack.setdefault(steps.stack(tensor), {}).setdefault(at, []).append(tensor)
    for of_step in by_stack.values():
        tensors = [tensor for its_tensors in of_step.values() for tensor in its_tensors]
        together = steps.alive_together({tensor: facts.producer(tensor) for tensor in tensors})
        kept = {steps.interval(facts.producer(tensor)) for tensor in together}
        late = set(_late(facts, steps, of_step))
        # The last of them has no later step to be used in.
        is_habit = len(kept) >= FEWEST_STEPS or len(late) >= FEWEST_STEPS - 1
        if is_habit and steps.is_inside_graph(tensors[-1]):
            found = [made[-1] for step, made in of_step.items() if step in kept | late]
            yield Collected(found, *_most_at_once(facts, steps, of_step))


def _late(facts: Facts, steps: Steps, of_step: dict[int, list[int]]) -> Iterator[int]:
    """Yield the steps of whose tensors one was used after the next step had made its first."""
    following = [facts.producer(tensors[0]) for tensors in of_step.values()][1:]
    for (step, tensors), begin in zip(of_step.items(), following, strict=False):
        if any(steps.last_use[tensor] > begin for tensor in tensors):
            yield step


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
