"""Targets lie outside of the range that the loss takes or the output can reach.

Contract: targets of binary cross entropy are in [0, 1] (Paddle's documentation). An output of
sigmoid, tanh, softmax or ReLU cannot reach targets far outside of its range.

A target ``reward + gamma * value`` is a constant (Sutton and Barto 2018, 9.3). If the same
parameters make it and the prediction, no gradient flows into it.

Losses of pairs, such as ``margin_ranking_loss``, take labels of -1 and 1.

The check looks at the first values of targets that are data, and with ``check="all"`` also at
targets computed from data. Targets for such an output may be outside of its range by half of the
range, because data may have outliers. Targets of a ReLU may be below zero by half of their root
mean square.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from paddle_lab.analysis.findings.facts.training import Glance, Training
from paddle_lab.analysis.findings.parts import PARAMETER, Check, Facts, Found, walk, warning
from paddle_lab.analysis.source.stacks import stack_of

_RANGES = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, inf)}
_ROUNDING = 0.02
_OF_SIGNS = frozenset(
    ("margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "soft_margin_loss")
)
_BINARY = frozenset(("sigmoid_cross_entropy_with_logits", "bce_loss"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield losses whose target is out of range."""
    training = facts.answer(Training)
    for op in training.forward_ops(*_BINARY):
        given = facts.inputs(op)
        target = training.glance(training.origin(given[1])) if len(given) > 1 else None
        if target is not None and (target.smallest < 0 or target.largest > 1):
            yield warning("target-range.binary", facts.place(op), op, **_numbers(target))
    yield from _soft(training)
    yield from _signs(training)
    yield from _moving(training)
    for op in training.forward_ops("subtract", "huber_loss"):
        pair = facts.inputs(op)
        if len(pair) != 2 or facts.shape(pair[0])[:-1] != facts.shape(pair[1])[:-1]:
            continue
        for output, other in (pair, pair[::-1]):
            target = training.glance(training.origin(other)) or training.computed(other)
            if target is not None and training.is_fed(output):
                yield from _reach(training, op, output, target)


def _reach(training: Training, op: int, output: int, target: Glance) -> Iterator[Found]:
    """Yield a loss whose output cannot reach its target."""
    facts, maker, numbers = training.facts, training.origin_op(output), _numbers(target)
    name = facts.op_name(maker).rstrip("_") if maker >= 0 else ""
    if name in _RANGES and (
        training.compares(op) or len({*map(facts.shape, facts.inputs(op))}) < 2
    ):
        low, high = _RANGES[name]
        room = (high - low) / 2
        if name == "relu":  # half as low as targets are large: no rounding and no outlier
            room = target.root_mean_square / 2 if training.compares(op) else inf
        if target.largest > high + room or target.smallest < low - room:
            yield warning("target-range.output", facts.place(op), op, made=name,
                          low=f"{low:g}", high=f"{high:g}", **numbers)  # fmt: skip


def _moving(training: Training) -> Iterator[Found]:
    """Yield targets that the same parameters make as the prediction, with gradients."""
    facts = training.facts

    def before(one: int) -> list[int]:  # not through a choice, such as argmax
        return [each for each in facts.inputs_before(one) if facts.needs_grad(each)]

    for op in training.forward_ops("subtract", "huber_loss"):
        if not training.compares(op):
            continue
        moving = [one for one in facts.inputs(op) if _is_bootstrapped(training, one)]
        leaves = [
            {one for one in walk([side], before) if facts.tensor_kind(one) == PARAMETER}
            for side in facts.inputs(op)
        ]
        if len(moving) == 1 and len(leaves) == 2 and leaves[0] & leaves[1]:
            maker = facts.producer(moving[0])
            yield warning("target-range.moving", facts.place(maker), maker)


def _is_bootstrapped(training: Training, tensor: int) -> bool:
    """Tell whether a tensor is data plus a multiple of a trained result."""
    facts, maker = training.facts, training.facts.producer(tensor)
    if maker < 0 or facts.op_name(maker) != "add" or len(facts.inputs(maker)) != 2:
        return False
    fed = [one for one in facts.inputs(maker) if training.is_fed(one)]
    times = facts.producer(fed[0]) if len(fed) == 1 and facts.needs_grad(fed[0]) else -1
    is_multiple = times >= 0 and facts.op_name(times) in {"multiply", "scale"}
    return is_multiple and sum(map(training.is_fed, facts.inputs(times))) == 1


def _signs(training: Training) -> Iterator[Found]:
    """Yield losses of pairs that take labels of -1 and 1, and got 0 and 1."""
    facts = training.facts
    for tensor, seen in training.glances.items():
        if not seen.is_whole or (seen.smallest, seen.largest) != (0, 1):
            continue
        for op in training.readers(tensor):
            frames = stack_of(facts.record, facts.stack(op))
            names = {one.function for one in frames if one.kind == "paddle"} & _OF_SIGNS
            for name in names:
                yield warning("target-range.signs", facts.place(op), op, loss=name)


def _soft(training: Training) -> Iterator[Found]:
    """Yield losses whose soft labels do not sum to 1."""
    facts = training.facts
    for op in training.forward_ops("cross_entropy_with_softmax"):
        logits, labels = facts.inputs(op)[:2]
        target, classes = training.glance(training.origin(labels)), facts.shape(labels)[-1:]
        is_soft = training.attribute(op, "soft_label") == "True"
        if (
            is_soft
            and target is not None
            and classes
            and facts.shape(labels) == facts.shape(logits)
        ):
            total = target.mean * classes[0]
            if abs(total - 1) > _ROUNDING:
                yield warning("target-range.soft", facts.place(op), op, total=f"{total:.3g}")


def _numbers(glance: Glance) -> dict[str, str]:
    return {"smallest": f"{glance.smallest:.4g}", "largest": f"{glance.largest:.4g}"}


CHECK = Check(find, example="loss = F.mse_loss(F.tanh(net(x)), pixels)  # pixels are 0 to 255")
