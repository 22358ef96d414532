"""An optimizer stepped twice with the same gradients.

Contract: one step is made for each set of gradients. ``minimize`` already makes a step.

The check reports a line that, at least twice, made a second step without any op or backward call
since the first. Sharpness-aware training and closures compute gradients between two steps, so the
check does not report them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Step, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that step a second time."""
    training = facts.answer(Training)
    backward = sorted(training.backward_scopes.values())
    for steps in training.steps_of.values():
        again: dict[Place, list[Step]] = {}
        for one, other in pairwise(steps):
            is_next = one.last_op >= 0 and other.first_op == one.last_op + 1
            is_next &= training.step_place(one) != training.step_place(other)
            if is_next and not any(one.scope < scope < other.scope for scope in backward):
                again.setdefault(training.step_place(other), []).append(other)
        for place, found in again.items():
            if len(found) > 1:
                yield warning("stepped-twice.found", place, found[0].first_op, n=len(found))


CHECK = Check(find, example="opt.step()\nopt.minimize(loss)")
