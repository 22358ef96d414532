"""All units of a layer have the same weights, and steps do not make them different.

Contract: the units start with different weights (Glorot and Bengio 2010), because equal units get
equal gradients and stay equal.

The check reports a weight with a gradient and equal units at each examined step, and at least at
three. It does not report a last layer that starts at zero, or LoRA's second matrix, because their
units become different in the first step.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that made weights with equal units."""
    training = facts.answer(Training)
    equal: dict[int, int] = {}
    for rows in training.looked.values():
        for tensor, gradient, _, is_equal, *_ in rows:
            equal[tensor] = equal.get(tensor, 0) + 1 if is_equal and gradient else -1_000
    places: dict[Place, list[int]] = {}
    for tensor, steps in equal.items():
        if steps >= 3 and min(facts.shape(tensor)[:2]) > 1:
            place = _made_by(training, tensor)
            places.setdefault(place, []).append(tensor)
    for place, tensors in places.items():
        name = facts.path(tensors[0]) or facts.tensor_name(tensors[0])
        yield warning("equal-units.found", place, -1, name=name, n=len(tensors),
                      shape=list(facts.shape(tensors[0])))  # fmt: skip


def _made_by(training: Training, tensor: int) -> Place:
    facts = training.facts
    for call in reversed(training.called("Initializer.__call__")):
        if call.event.tensor >= 0 and facts.first_value(call.event.tensor) == tensor:
            return training.place(call)
    for event in facts.events("overwritten"):
        if event.tensor >= 0 and facts.first_value(event.tensor) == tensor:
            return facts.place_of_stack(event.stack)
    place = training.creation_place(tensor)
    return place if place.line else training.step_place(training.steps[0])


CHECK = Check(find, example="nn.Linear(64, 64, weight_attr=nn.initializer.Constant(0.1))")
