"""An optimizer holds other parameters than those of the net that is trained.

Contract (``paddle.optimizer``): an optimizer updates only the parameters that it was given when it
was made. If a layer is replaced later, the optimizer does not know the new parameters.

The check looks for parameters that backward reached and no optimizer holds, and for an optimizer
with parameters that backward did not reach. It reports the optimizer if backward reached none of
its parameters. Otherwise it reports those parameters that were made after the optimizer. It also
reports an optimizer that has just the parameters of another one and steps in turn with it. It does
not report nets that only compute a loss, or parts that the optimizer was not given.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import PARAMETER, Facts, Found, Place, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of parameters that were made too late, or the line of the optimizer."""
    cuts, training = facts.answer(GradientCuts), facts.answer(Training)
    trained, reached = cuts.trained, cuts.reach.leaves
    others = [
        one for one in sorted(reached - trained.holders.keys() - trained.frozen)
        if facts.tensor_kind(one) == PARAMETER
    ]  # fmt: skip
    if not trained.steps or not others:
        return
    made = {int(call.detail[0]): call for call in training.called("Optimizer.__init__")}
    created = {
        facts.first_value(event.tensor): event.row
        for event in facts.events("created")
        if event.tensor >= 0
    }
    held: dict[int, set[int]] = {}
    for parameter, optimizers in trained.holders.items():
        for optimizer in optimizers:
            held.setdefault(optimizer, set()).add(parameter)
    stepped = np.flatnonzero(facts.record.optimizers["steps"] > 0).tolist()
    numbers = dict(zip(stepped, sorted(training.steps_of), strict=False))
    yield from _twice(facts, numbers, held, others)
    for optimizer, number in numbers.items():
        own = held.get(optimizer, set())
        lost = own - reached - trained.frozen - trained.estimates - trained.updated
        if number not in made or not lost:
            continue
        if not own & reached:
            names = trained.names(others)
            yield warning("optimizer-of-others.none", training.made_at(number), -1, names=names)
            continue
        late: dict[Place, list[int]] = {}
        for one in others:
            if created.get(one, -1) > made[number].event.row:
                late.setdefault(training.creation_place(one), []).append(one)
        for place, parameters in late.items():
            yield warning("optimizer-of-others.late", place, -1, names=trained.names(parameters),
                          made=training.made_at(number))  # fmt: skip


def _twice(
    facts: Facts, numbers: dict[int, int], held: dict[int, set[int]], others: list[int]
) -> Iterator[Found]:
    """Yield the line of one of two optimizers of the same parameters that step in turn."""
    training, names = facts.answer(Training), facts.answer(GradientCuts).trained.names(others)
    for pair in combinations(numbers, 2):
        steps = [step for step in training.steps if step.number in {numbers[one] for one in pair}]
        own = held.get(pair[0], set())
        is_in_turn = all(one.number != other.number for one, other in pairwise(steps))
        if not own or held.get(pair[1]) != own or len(steps) < 3 or not is_in_turn:
            continue
        wrong = []
        for step in steps[-2:]:
            # The backward call before a step should reach these parameters, and no others.
            calls = [one for one in facts.user_backward_calls
                     if facts.ops_before(one) <= step.first_op]  # fmt: skip
            leaves = facts.leaves_of_nodes(facts.nodes_of_calls(calls[-1:]))
            wrong.append((not leaves.isdisjoint(own), leaves.isdisjoint(others), step.number))
        place, other = (training.made_at(number) for *_, number in sorted(wrong))
        yield warning("optimizer-of-others.twice", place, -1, names=names, other=other)


CHECK = Check(
    find=find,
    example="opt = Adam(parameters=net.parameters())\nnet.head = nn.Linear(64, 10)",
    consequence_of=("gradient-cut",),
)
