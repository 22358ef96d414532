"""Parameters were initialised again after steps had trained them.

Contract: weights are initialised once, because an initializer overwrites what was learned.

The check reports a line that initialised parameters at least twice, if steps of the optimizer that
holds them came before, in between and after. It does not report new folds or trials, which make a
new optimizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import Called, Check, Facts, Found, Place, Training, warning
from paddle_lab.analysis.source.stacks import stack_of


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that initialise parameters between steps."""
    training = facts.answer(Training)
    again: dict[Place, set[int]] = {}
    first: dict[Place, Called] = {}
    for call in training.called("Initializer.__call__"):
        tensor = facts.first_value(call.event.tensor) if call.event.tensor >= 0 else -1
        for steps in training.steps_of.values():
            held = {row[0] for step in steps for row in training.looked.get(step.row, ())}
            moments = [step.first_op for step in steps]
            at = call.event.ops_before
            before = sum(-1 < moment < at for moment in moments)
            if tensor in held and 0 < before < len(steps):
                place = _outermost_place(training, call)
                again.setdefault(place, set()).add(before)
                first.setdefault(place, call)
    for place, times in again.items():
        if len(times) > 1:
            yield warning("initialised-again.found", place, -1, n=len(times))


def _outermost_place(training: Training, call: Called) -> Place:
    """Return the user's line that called ``apply`` or the initializer."""
    frames = stack_of(training.facts.record, call.event.stack)
    for callee, caller in pairwise(frames):
        if callee.kind == "paddle" and callee.function.endswith("apply") and caller.kind == "user":
            return Place.of(caller)
    return training.place(call)


CHECK = Check(find, example="for epoch in range(10):\n    net.apply(init_weights)", holds_on=())
