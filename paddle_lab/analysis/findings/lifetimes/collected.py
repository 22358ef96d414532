"""Finds tensors that one line made in several steps and that were still used in the next step."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.lifetimes.steps import Steps

FEWEST_STEPS = 3
"""The number of steps in which a line must keep tensors to be reported."""


class Collected(NamedTuple):
    """Tensors that one stack made and that outlived their steps."""

    tensors: list[int]
    """One tensor per step, by time."""
    together: list[int]
    """The largest set of these tensors that was alive at one moment, the newest included."""
    moment: int
    """When that set was last alive, in ops called so far; at the trace's end, all ops plus one."""


def collected(facts: Facts, steps: Steps) -> Iterator[Collected]:
    """Yield tensors that one stack made in several steps and that outlived their steps."""
    made = steps.made_in_forward
    made = made[facts.record.tensors["stop_gradient"][made] == 0]
    producer = facts.record.tensors["producer"][made]
    stack, step = facts.record.ops["stack"][producer], steps.intervals(producer)
    # Skip most stacks early: those without a tensor that a later step used, or that was seen alive
    # between ops.
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
        # No step follows the last one, so it cannot be late.
        is_habit = len(kept) >= FEWEST_STEPS or len(late) >= FEWEST_STEPS - 1
        if is_habit and steps.is_inside_graph(tensors[-1]):
            found = [made[-1] for step, made in of_step.items() if step in kept | late]
            yield Collected(found, *_most_at_once(facts, steps, of_step))


def _late(facts: Facts, steps: Steps, of_step: dict[int, list[int]]) -> Iterator[int]:
    """Yield steps with a tensor that was used after the next step had made its first tensor."""
    following = [facts.producer(tensors[0]) for tensors in of_step.values()][1:]
    for (step, tensors), begin in zip(of_step.items(), following, strict=False):
        if any(steps.last_use[tensor] > begin for tensor in tensors):
            yield step


def _most_at_once(
    facts: Facts, steps: Steps, of_step: dict[int, list[int]]
) -> tuple[list[int], int]:
    """Return the largest set of tensors, one per step, that were alive together, and until when."""
    # Tensors of earlier steps that were alive after this step made its first tensor.
    pending: list[tuple[int, int]] = []
    most: list[tuple[int, int]] = []
    for tensors in of_step.values():
        longest = max(tensors, key=steps.end_of)
        pending = pending[bisect_right(pending, facts.producer(tensors[0]), key=itemgetter(0)) :]
        insort(pending, (steps.end_of(longest), longest))
        if len(pending) > len(most):
            most = list(pending)
    return [tensor for _, tensor in most], most[0][0]
