"""Steps did not change a weight, although the weight had a gradient.

Contract (``Optimizer.step``): the step changes each weight that the optimizer holds and that has a
gradient. The learning rate of ``ParamAttr`` or of a parameter group multiplies the optimizer's.

The check reports a weight that at least three steps did not change, while another parameter
changed. It does not report biases before a norm, because their gradients are rounding errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_FEWEST = 3
_VALUES = 2
_SMALLEST_RATE = 1e-6


def find(facts: Facts) -> Iterator[Found]:
    """Yield the weights that an optimizer leaves unchanged."""
    training = facts.answer(Training)
    for number, steps in training.steps_of.items():
        same: dict[int, int] = {}
        changed: set[int] = set()
        for step in steps:
            for tensor, gradient, has_changed, *_ in training.looked.get(step.row, ()):
                if has_changed:
                    changed.add(tensor)
                elif gradient == _VALUES and step.rate > _SMALLEST_RATE:
                    same[tensor] = same.get(tensor, 0) + 1
        stuck = [
            one for one, times in same.items()
            if times >= _FEWEST and one not in changed and len(facts.shape(one)) > 1
        ]  # fmt: skip
        if stuck and changed:
            name = facts.path(stuck[0]) or facts.tensor_name(stuck[0])
            place = training.creation_place(stuck[0])
            yield warning("unchanged-parameter.found", place if place.line else
                          training.made_at(number), -1, name=name, n=same[stuck[0]],
                          made=training.made_at(number))  # fmt: skip


CHECK = Check(find, example="nn.Linear(8, 8, weight_attr=paddle.ParamAttr(learning_rate=0.0))")
