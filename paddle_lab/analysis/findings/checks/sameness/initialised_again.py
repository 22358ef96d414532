"""Parameters were initialised again, or set to their first values, after steps had trained them.

Contract: weights are initialised once, because an initializer overwrites what was learned.

The check reports a line that initialised parameters at least twice, if steps of the optimizer that
holds them came before, in between and after. It also reports a line that, at least twice, set all
parameters of the only optimizer to the values that they had before its first step.

It does not report new folds or trials, which make a new optimizer. Nor does it report weights that
are read or kept before they are set back, as in meta-learning and in searches for a learning rate.
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
    for call in training.called("Initializer.__call__"):
        tensor = facts.first_value(call.event.tensor) if call.event.tensor >= 0 else -1
        for steps in training.steps_of.values():
            held = {row[0] for step in steps for row in training.looked.get(step.row, ())}
            moments = [step.first_op for step in steps]
            at = call.event.ops_before
            before = sum(-1 < moment < at for moment in moments)
            if tensor in held and 0 < before < len(steps):
                again.setdefault(_outermost_place(training, call), set()).add(before)
    for place, times in again.items():
        if len(times) > 1:
            yield warning("initialised-again.found", place, -1, n=len(times))
    if len(training.steps_of) == 1:
        yield from _set_back(training)


def _set_back(training: Training) -> Iterator[Found]:
    """Yield the line that sets all parameters to their first values after steps."""
    facts, steps = training.facts, training.steps
    if not steps[0].schedule and len({step.rate for step in steps}) > 1:
        return  # each time with another learning rate
    starts = {row[0]: row[4] for row in training.looked.get(steps[0].row, ())}
    moments = [step.first_op for step in steps]
    written: dict[Place, dict[int, set[int]]] = {}
    for event in facts.events("overwritten"):
        before = sum(-1 < moment < event.ops_before for moment in moments)
        tensor, digest = facts.first_value(event.tensor), event.detail.partition(" ")[2]
        if 0 < before < len(steps) and digest == str(starts.get(tensor)):
            place = facts.place_of_stack(event.stack)
            written.setdefault(place, {}).setdefault(before, set()).add(tensor)
    kept = [
        one.ops_before for one in facts.events("read") if facts.first_value(one.tensor) in starts
    ]
    kept += [call.event.ops_before for call in training.called("state_dict", "save")]
    for place, times in written.items():
        whole = [before for before, tensors in times.items() if len(tensors) == len(starts)]
        if len(whole) > 1 and not any(moments[0] < at <= moments[-1] for at in kept):
            yield warning("initialised-again.set_back", place, -1, n=len(whole))


def _outermost_place(training: Training, call: Called) -> Place:
    """Return the user's line that called ``apply`` or the initializer."""
    frames = stack_of(training.facts.record, call.event.stack)
    for callee, caller in pairwise(frames):
        if callee.kind == "paddle" and callee.function.endswith("apply") and caller.kind == "user":
            return Place.of(caller)
    return training.place(call)


CHECK = Check(find, example="for epoch in range(10):\n    net.apply(init_weights)")
