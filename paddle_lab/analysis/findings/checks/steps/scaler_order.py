"""Calls of a ``GradScaler`` are missing or in the wrong order.

Contract (``paddle.amp.GradScaler``): ``scale(loss).backward()``, then ``unscale_(optimizer)``
before gradients are clipped or read, then ``step(optimizer)`` and ``update()``. The order
is the same if the loss is multiplied and gradients are divided by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_CLIPS = ("clip_grad_norm_", "clip_grad_value_")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the first call that shows the mistake."""
    training = facts.answer(Training)
    scaled, stepped = training.called("scale"), training.called("GradScaler.step")
    stepped += training.called("AmpScaler.minimize", "GradScaler.minimize")
    if len(scaled) > 1 and not stepped and len(training.steps) > 1:
        step = training.steps[0]
        yield warning("scaler-order.never_unscaled", training.step_place(step), step.first_op)
    if len(stepped) > 1 and not scaled:
        yield warning("scaler-order.never_scaled", training.place(stepped[0]), -1)
    yield from _by_hand(training)
    if not scaled or not stepped:
        return
    is_scaled = False
    for call in training.called("scale", "unscale_", "GradScaler.step", *_CLIPS):
        if call.name == "scale":
            is_scaled = True
        elif call.name in _CLIPS and is_scaled:
            yield warning("scaler-order.clipped", training.place(call), -1, name=call.name)
            return
        elif call.name not in _CLIPS:
            is_scaled = False


def _by_hand(training: Training) -> Iterator[Found]:
    """Yield a clip after backward on a multiple of the loss, if gradients are divided later."""
    facts = training.facts
    roots = [(facts.ops_before(call), facts.op_of_node(node)) for call in facts.user_backward_calls
             for node in facts.roots(call)]  # fmt: skip
    for clip in training.called(*_CLIPS)[:1]:
        at = clip.event.ops_before
        _, root = max([one for one in roots if one[0] <= at], default=(0, -1))
        end = min([step.first_op for step in training.steps if step.first_op >= at], default=at)
        scale = facts.factor(root) if root >= 0 else 1.0
        divided = [facts.inputs(op)[0] for op in range(at, end) if scale > 1
                   and isclose(facts.factor(op) * scale, 1)]  # fmt: skip
        if any(facts.shape(one) in training.parameter_shapes for one in divided):
            yield warning("scaler-order.clipped", training.place(clip), -1, name=clip.name)


CHECK = Check(
    find=find,
    example="scaler.scale(loss).backward()\nclip_grad_norm_(parameters, 1.0)\nscaler.step(opt)",
)
