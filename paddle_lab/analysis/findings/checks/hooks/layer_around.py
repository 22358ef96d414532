"""A net was trained without the layer that scales its input in use, or the other way round.

Contract: a net is used on inputs of the scale that it was trained on. A layer around it that scales
the input, such as one with the mean and deviation of the data, belongs to both.

The check reports a layer that training calls directly, and evaluation inside another layer that
only adds, multiplies or divides its input, or the other way round. Both must get the same data, or
data of the same scale, which is not the one that weights expect. Other layers around it, such as
those that add random numbers to the input, are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from paddle_lab.analysis.findings.facts.training import Glance
from paddle_lab.analysis.findings.parts import AFFINE, Check, Facts, Found, Training, warning

_SCALING = frozenset(("add", "subtract", "multiply", "divide", "scale"))
_SAME = 0.25
"""Two means or root mean squares of the same data differ by at most this share."""


def find(facts: Facts) -> Iterator[Found]:
    """Yield the line that calls a layer past the layer around it."""
    training = facts.answer(Training)
    start = training.steps[0].first_op if training.steps else facts.op_count
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    firsts: dict[tuple[bool, int], int] = {}
    for op in training.forward_ops("rnn", *AFFINE):
        if op > start and (layers := _models(training, op)):
            firsts.setdefault((bool(is_used[op]), layers[0]), op)
    if sorted(is_training for is_training, _ in firsts) != [False, True]:
        return
    for inner, op in permutations(firsts.values()):
        outer = _models(training, op)
        if outer[1:] != _models(training, inner)[:1]:
            continue
        made = scaled = training.origin(facts.inputs(op)[0])
        while (maker := facts.producer(made)) >= 0 and _models(training, maker) == outer[:1]:
            if facts.op_name(maker) not in _SCALING:
                return
            made = training.origin(facts.inputs(maker)[0])
        raw = training.origin(facts.inputs(inner)[0])
        is_same = raw == made or _are_alike(training.glance(raw), training.glance(made))
        if made != scaled and is_same and not training.is_fed(made):
            name = facts.record.text(int(facts.record.layers["class"][outer[0]]))
            key = "layer-around.training" if is_used[inner] else "layer-around.use"
            yield warning(key, facts.model_place(inner), inner, layer=name,
                          other=facts.model_place(op))  # fmt: skip


def _models(training: Training, op: int) -> tuple[int, ...]:
    """Return the outermost and the second layer around an op, as far as there are any."""
    scopes = training.layers_around(op)
    return tuple(training.facts.record.scopes["layer"][scopes[::-1]].tolist()[:2])


def _are_alike(one: Glance | None, other: Glance | None) -> bool:
    """Tell whether two tensors have data of the same scale, and not that of standardised data."""
    if one is None or other is None or (abs(one.mean) < 0.5 and 0.5 < one.root_mean_square < 2):
        return False
    sizes = one.root_mean_square, other.root_mean_square
    room = _SAME * max(sizes)
    return abs(one.mean - other.mean) < room and abs(sizes[0] - sizes[1]) < room


CHECK = Check(
    find=find,
    example="loss = F.mse_loss(model.net(x), y)  # and later: model(x), which scales x first",
    holds_on=(),
)
