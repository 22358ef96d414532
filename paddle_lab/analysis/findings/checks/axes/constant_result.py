"""An op normalises over a single value, so the result does not depend on the input.

Contract: softmax over one class is always 1, and its cross entropy is always 0. A norm over one
value always gives 0, or the bias of the norm. In ``x + (round(x) - x)`` x cancels, and so does its
gradient; the straight-through estimator (Bengio et al. 2013) detaches the difference.

The check does not report batch norm of one sample whose channels have several values, or attention
to a single token.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.gradients.reach import ZERO_GRADIENT
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_NORMS = ("layer_norm", "batch_norm", "batch_norm_", "instance_norm", "group_norm")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the softmaxes and norms that normalise over one value."""
    training = facts.answer(Training)
    for op in training.forward_ops("softmax", "log_softmax", "cross_entropy_with_softmax", *_NORMS):
        if not facts.inputs(op) or not training.is_fed(facts.inputs(op)[0]):
            continue
        shape, name = facts.shape(facts.inputs(op)[0]), facts.op_name(op)
        if _values(training, op, name, shape) == 1:
            kind = "loss" if name.startswith("cross") else "norm" if name in _NORMS else "softmax"
            yield warning(
                f"constant-result.{kind}", facts.place(op), op, name=name, shape=list(shape)
            )
    yield from _cancelled(training)


def _cancelled(training: Training) -> Iterator[Found]:
    """Yield sums ``x + (round(x) - x)``, in which the gradient of x cancels."""
    facts = training.facts
    for op in training.forward_ops("add"):
        given = facts.inputs(op)
        for one, other in zip(given, given[::-1], strict=True) if len(given) == 2 else ():
            pair = facts.inputs(maker) if (maker := facts.producer(other)) >= 0 else []
            rounded = training.origin_op(pair[0]) if len(pair) == 2 else -1
            is_step = rounded >= 0 and facts.op_name(rounded) in ZERO_GRADIENT
            is_same = facts.op_name(maker) == "subtract" and pair[1:] == [one]
            if is_step and is_same and facts.needs_grad(one) and facts.needs_grad(other):
                yield warning("constant-result.cancelled", facts.place(op), op)


def _values(training: Training, op: int, name: str, shape: tuple[int, ...]) -> int:
    """Return over how many values the op normalises, 0 if the number is not known."""
    if not shape or 0 in shape or training.attribute(op, "use_softmax") == "False":
        return 0
    if name == "layer_norm":
        begin = training.attribute(op, "begin_norm_axis")
        return prod(shape[int(begin) :]) if begin.isdigit() else 0
    if name.startswith("batch_norm"):
        is_own = training.attribute(op, "is_test") == "False"
        channels = shape[-1] if training.attribute(op, "data_format") == "'NHWC'" else shape[1]
        return prod(shape) // channels if is_own and len(shape) > 1 else 0
    if name == "instance_norm":
        return prod(shape[2:])
    if name == "group_norm":
        groups = training.attribute(op, "groups")
        return prod(shape[1:]) // int(groups) if groups.isdigit() and int(groups) else 0
    axis = training.attribute(op, "axis")
    if not axis.lstrip("-").isdigit():
        return 0
    maker, at = training.origin_op(training.facts.inputs(op)[0]), int(axis) % len(shape)
    read = training.facts.inputs(maker) if maker >= 0 else ()
    widths = [training.facts.shape(one)[-1:] for one in read if training.facts.path(one)]
    is_unit = at == len(shape) - 1 and (1,) in widths  # the layer has one output
    return shape[at] if is_unit or (len(shape) == 2 and shape[0] > 1) else 0


CHECK = Check(find, example="loss = F.cross_entropy(nn.Linear(8, 1)(x), y)")
