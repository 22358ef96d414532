"""The loss grew from step to step: the learning rate is too large.

Contract: a step against the gradient lowers the loss if the step is small enough.

The check reports the loss of one backward line and one optimizer if it grew at each of four steps,
by half each time or more, to at least ten times its first value. It does not report losses that
oscillate, losses of two players, or a search for a learning rate, which raises the rate at each
step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_STEPS = 4
_EACH, _IN_ALL = 1.5, 10.0
_LARGEST = float(np.finfo(np.float32).max)
"""Larger losses, infinity and NaN are stored as this."""


def find(facts: Facts) -> Iterator[Found]:
    """Yield the optimizer whose steps made the loss grow."""
    training = facts.answer(Training)
    if len(training.steps_of) != 1 or len(training.steps) < _STEPS:
        return
    number, steps = next(iter(training.steps_of.items()))
    if steps[-1].rate > steps[0].rate:
        return
    by_line: dict[int, list[float]] = {}
    for call, loss in training.losses.items():
        by_line.setdefault(int(facts.record.backward_calls["stack"][call]), []).append(loss)
    if len(by_line) != 1:
        return
    losses = next(iter(by_line.values()))
    if len(losses) < _STEPS + 1:
        return
    for at in range(_STEPS, len(losses)):
        run = losses[at - _STEPS : at + 1]
        grows = all(
            one > 0 and (other > one * _EACH or other == _LARGEST) for one, other in pairwise(run)
        )
        if grows and run[-1] > _IN_ALL * max(losses[0], 1e-30):
            yield warning("loss-grows.found", training.made_at(number), steps[0].first_op,
                          first=f"{losses[0]:.4g}", last=f"{losses[at]:.4g}", n=at + 1,
                          rate=f"{steps[0].rate:.4g}")  # fmt: skip
            return


CHECK = Check(find, example="opt = SGD(5.0, parameters=net.parameters())", holds_on=())
