"""A loss got the wrong kind of values, such as probabilities instead of logits.

Contract (Paddle's documentation of each loss): ``cross_entropy`` and
``binary_cross_entropy_with_logits`` take logits and apply softmax or sigmoid themselves;
``nll_loss`` and the input of ``kl_div`` are log-probabilities.

The op that made the values tells their kind. Values of an unknown op are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import AFFINE, Training
from paddle_lab.analysis.findings.finding import Found, Place, warning

_SQUASHING = {"softmax": "softmax", "sigmoid": "sigmoid", "gumbel_softmax": "softmax"}


def find(facts: Facts) -> Iterator[Found]:
    """Yield losses whose input or target is of the wrong kind."""
    training = facts.answer(Training)
    for op in training.forward_ops("cross_entropy_with_softmax"):
        takes_logits = training.attribute(op, "use_softmax") != "False"
        kind, maker = _kind(training, facts.inputs(op)[0])
        if takes_logits and kind in {"softmax", "sigmoid"}:
            place = _place(training, op, maker)
            yield warning("loss-input.softmax", place, op, made=kind)
        elif not takes_logits and kind == "logits":
            yield warning("loss-input.no_softmax", facts.place(op), op)
    for op in training.forward_ops("sigmoid_cross_entropy_with_logits"):
        kind, maker = _kind(training, facts.inputs(op)[0])
        if kind in {"softmax", "sigmoid"}:
            yield warning("loss-input.sigmoid", _place(training, op, maker), op, made=kind)
    for op in training.forward_ops("nll_loss"):
        kind, _ = _kind(training, facts.inputs(op)[0])
        if kind in {"softmax", "sigmoid", "logits"}:
            yield warning("loss-input.nll", facts.place(op), op, made=kind)
    for op in training.forward_ops("kldiv_loss"):
        yield from _divergence(training, op)


def _divergence(training: Training, op: int) -> Iterator[Found]:
    facts = training.facts
    kind, _ = _kind(training, facts.inputs(op)[0])
    if kind in {"softmax", "sigmoid", "logits"}:
        yield warning("loss-input.kl", facts.place(op), op, made=kind)
        return
    target, _ = _kind(training, facts.inputs(op)[1])
    is_log = training.attribute(op, "log_target") == "True"
    if (target == "log" and not is_log) or (target == "softmax" and is_log):
        yield warning("loss-input.kl_target", facts.place(op), op, made=target)


def _kind(training: Training, tensor: int) -> tuple[str, int]:
    """Return the kind of a tensor's values, and the op that made them. ``""`` if not known."""
    facts = training.facts
    op = training.origin_op(tensor)
    name = facts.op_name(op) if op >= 0 else ""
    if name in _SQUASHING:
        return _SQUASHING[name], op
    if name in {"log_softmax", "log"}:
        return "log", op
    if name in AFFINE and any(training.is_fed(one) for one in facts.inputs(op)):
        return "logits", op
    inputs = facts.inputs(op) if op >= 0 else []
    if name == "add" and training.origin_op(inputs[0]) >= 0:
        maker = training.origin_op(inputs[0])
        is_layer = any(facts.path(one) for one in facts.inputs(maker))
        return ("logits" if facts.op_name(maker) in AFFINE and is_layer else ""), op
    if name == "divide" and len(inputs) == 2:
        above, below = map(training.origin_op, inputs)
        is_sum = below >= 0 and facts.op_name(below) == "sum" and facts.inputs(below)
        is_exp = above >= 0 and facts.op_name(above) == "exp"
        if is_exp and is_sum and training.origin_op(facts.inputs(below)[0]) == above:
            return "softmax", -1
    return "", op


def _place(training: Training, loss: int, maker: int) -> Place:
    """Return the softmax's line if the user's code calls it only for the loss, else the loss's."""
    facts = training.facts
    if maker >= 0 and training.is_direct(maker):
        readers = training.readers(facts.outputs(maker)[0])
        if all(facts.op_name(one) != "argmax" for one in readers):
            return facts.place(maker)
    return facts.place(loss)


CHECK = Check(
    find=find,
    example="loss = F.cross_entropy(F.softmax(net(x)), y)",
)
