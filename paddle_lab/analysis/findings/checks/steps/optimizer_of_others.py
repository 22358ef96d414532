"""An optimizer holds other parameters than those of the net that is trained.

Contract (``paddle.optimizer``): an optimizer updates only the parameters that it was given when it
was made. If a layer is replaced later, the optimizer does not know the new parameters.

The check looks for parameters that backward reached and no optimizer holds, and for an optimizer
with parameters that backward did not reach. It reports the optimizer if backward reached none of
its parameters. Otherwise it reports those parameters that were made after the optimizer. It does
not report nets that only compute a loss, or parts that the optimizer was not given.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    for number, optimizer in zip(sorted(training.steps_of), stepped, strict=False):
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


CHECK = Check(
    find=find,
    example="opt = Adam(parameters=net.parameters())\nnet.head = nn.Linear(64, 10)",
    consequence_of=("gradient-cut",),
    holds_on=(),
)
