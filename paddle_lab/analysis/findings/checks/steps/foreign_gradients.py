"""A step used gradients that the loss of another optimizer had left.

Contract (Goodfellow et al. 2014): the generator and the discriminator have opposite losses, so a
step uses the gradients of its own loss only. A backward call adds to what the last one left.

The check reports a backward call whose gradients one optimizer used, if another optimizer then
used them too, together with those of a backward call at another line that only this optimizer
used. Both calls must reach all these parameters. So a loss that several optimizers use, parts
that step less often, a shared encoder and heads, and several losses before a step are not reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.gradients.trained import Trained
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Step, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of losses whose gradients another optimizer's step used."""
    training, said = facts.answer(Training), set[int]()
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    begins = [facts.ops_before(call) for call in calls]
    steps = sorted((step.first_op, step) for step in training.steps if step.first_op >= 0)
    by_call: list[list[Step]] = [[] for _ in range(len(calls) + 1)]
    for first, step in steps:
        by_call[bisect_right(begins, first)].append(step)
    for event in training.called("foreign_gradient"):
        number, maker = map(int, event.detail)
        own = next((step for at, step in steps if at >= event.event.ops_before), None)
        at = -1 if own is None else bisect_right(begins, own.first_op)
        before = next((one for one in range(at - 1, 0, -1) if by_call[one]), 0)
        if own is None or own.number != number or not before:
            continue
        users = [{step.number for step in by_call[one]} for one in (before, at)]
        call, last = calls[before - 1], calls[at - 1]
        stacks = facts.record.backward_calls["stack"][[call, last]].tolist()
        if users != [{maker}, {number}] or stacks[0] == stacks[1] or stacks[0] in said:
            continue
        left, added = (facts.leaves_of_nodes(facts.nodes_of_calls([one])) for one in (call, last))
        held, others = _held(training, number), _held(training, maker)
        if not added & held or added & held - left:
            continue
        said.add(stacks[0])
        root = next((facts.op_of_node(node) for node in facts.roots(call)), -1)
        is_through = bool(added & others) and root >= 0  # detach, rather than clear later
        place = facts.place(root) if is_through else training.step_place(own)
        values = {"backward": facts.place_of_call(call), "step": training.step_place(own)}
        key = "through" if is_through else "left"
        yield warning(f"foreign-gradients.{key}", place, own.first_op, **values)


def _held(training: Training, number: int) -> set[int]:
    """Return the parameters of the optimizer with a number."""
    facts = training.facts
    stepped = np.flatnonzero(facts.record.optimizers["steps"] > 0).tolist()
    row = dict(zip(sorted(training.steps_of), stepped, strict=False)).get(number)
    return {one for one, rows in facts.answer(Trained).holders.items() if row in rows}


CHECK = Check(
    find=find,
    example="loss = bce(critic(generator(z)), zeros)  # without detach(), before opt_critic.step()",
    holds_on=(),
)
