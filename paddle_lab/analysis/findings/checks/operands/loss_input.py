"""A loss got the wrong kind of values, such as probabilities instead of logits, or padding.

Contract (Paddle's documentation of each loss): ``cross_entropy`` and
``binary_cross_entropy_with_logits`` take logits and apply softmax or sigmoid themselves;
``nll_loss`` and the input of ``kl_div`` are log-probabilities; soft labels are probabilities. The
Dice loss (Milletari et al. 2016) compares probabilities with masks. A token that
``Embedding(padding_idx=…)`` names as padding is no target. The label of a causal language model is
the next token, not the one that it reads at the same position. The focal loss (Lin et al. 2017)
weights each sample, so its weight is not computed from a mean; but means of tasks may be weighted.

The op that made the values tells their kind. Values of an unknown op are not reported.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.checks.operands.tokens import copied_tokens, has_padding
from paddle_lab.analysis.findings.facts.training import AFFINE, LOSSES, PASSING, Training
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, warning

_MASKS = frozenset(("greater_than", "greater_equal", "less_than", "equal", "one_hot"))
_SQUASHING = {"softmax": "softmax", "sigmoid": "sigmoid", "gumbel_softmax": "softmax"}
_FOCAL = ({"subtract"}, {"pow", "square"}, {"multiply"}, {"multiply"})


def find(facts: Facts) -> Iterator[Found]:
    """Yield losses whose input or target is of the wrong kind."""
    training = facts.answer(Training)
    for op in training.forward_ops("cross_entropy_with_softmax"):
        takes_logits = training.attribute(op, "use_softmax") != "False"
        kind, maker = kind_of(training, facts.inputs(op)[0])
        if takes_logits and kind in {"softmax", "sigmoid"}:
            place = _place(training, op, maker)
            yield warning("loss-input.softmax", place, op, made=kind)
        elif takes_logits and maker >= 0 and facts.op_name(maker) == "relu":
            yield warning("loss-input.relu", facts.place(maker), op)
        elif not takes_logits and kind == "logits":
            yield warning("loss-input.no_softmax", facts.place(op), op)
        yield from _labels(training, op)
    for op in training.forward_ops("sigmoid_cross_entropy_with_logits"):
        kind, maker = kind_of(training, facts.inputs(op)[0])
        if kind in {"softmax", "sigmoid"}:
            yield warning("loss-input.sigmoid", _place(training, op, maker), op, made=kind)
    for op in training.forward_ops("nll_loss"):
        kind, _ = kind_of(training, facts.inputs(op)[0])
        if kind in {"softmax", "sigmoid", "logits"}:
            yield warning("loss-input.nll", facts.place(op), op, made=kind)
    for op in training.forward_ops("kldiv_loss"):
        yield from _divergence(training, op)
    yield from _overlaps(training)
    yield from _focal(training)


def _labels(training: Training, op: int) -> Iterator[Found]:
    """Yield a cross entropy whose labels are no probabilities, padding or the tokens it reads."""
    facts = training.facts
    if training.attribute(op, "soft_label") == "True":
        label = kind_of(training, facts.inputs(op)[1])[0]
        if label in {"logits", "log"}:
            yield warning("loss-input.soft_label", facts.place(op), op, made=label)
    elif has_padding(training, op):
        yield warning("loss-input.padding", facts.place(op), op)
    if copied_tokens(facts, op):
        yield warning("loss-input.copy", facts.place(op), op)


def _overlaps(training: Training) -> Iterator[Found]:
    """Yield the Dice losses of logits: logits times a mask, divided by the sum of both."""
    facts = training.facts
    for op in training.forward_ops("multiply"):
        pair = facts.inputs(op)
        logits = next((one for one in pair if kind_of(training, one)[0] == "logits"), -1)
        if len(pair) != 2 or logits < 0:
            continue
        mask = training.origin(pair[pair[0] == logits])
        seen, maker = training.glance(mask), facts.producer(mask)
        is_data = seen is not None and seen.is_whole and seen.smallest >= 0 and seen.largest <= 1
        is_mask = is_data or (maker >= 0 and facts.op_name(maker) in _MASKS)
        readers = training.readers(facts.outputs(op)[0])
        is_summed = any(facts.op_name(one) == "sum" for one in readers)
        sums = training.readers(training.origin(logits)) if is_mask and is_summed else ()
        if any(facts.op_name(one) == "sum" and _divides(training, one) for one in sums):
            yield warning("loss-input.dice", facts.place(op), op)


def _focal(training: Training) -> Iterator[Found]:
    """Yield means of losses that are multiplied by a focal weight ``(1 - exp(-mean)) ** n``."""
    facts = training.facts
    ends = [facts.ops_before(call) for call in facts.user_backward_calls]
    losses = set(training.forward_ops(*LOSSES))
    means = {op for op in training.forward_ops("mean", "mean_all", "nll_loss")
             if facts.shape(facts.outputs(op)[0]) in {(), (1,)}}  # fmt: skip
    found: dict[int, set[int]] = {}
    for op in training.forward_ops("exp"):
        negation, reached = facts.producer(facts.inputs(op)[0]), set(facts.outputs(op))
        negated, factors = facts.inputs(negation) if negation >= 0 else [], set[int]()
        for names in _FOCAL:
            readers = [one for tensor in reached for one in facts.consumers(tensor)
                       if facts.op_name(one) in names]  # fmt: skip
            factors.update(tensor for one in readers for tensor in facts.inputs(one))
            reached = {tensor for one in readers for tensor in facts.outputs(one)}
        weighted = means & {facts.producer(one) for one in factors & {*negated}}
        found.setdefault(bisect_right(ends, op), set()).update(weighted)
    for op in (min(ops) for ops in found.values() if len(ops) == 1):
        averaged = facts.inputs(op)[op in losses]  # for nll_loss its labels
        n = prod(facts.shape(averaged))
        if n > 1 and (op in losses or training.origin_op(averaged) in losses):
            yield warning("loss-input.focal", facts.place(op), op, n=n)


def _divides(training: Training, op: int) -> bool:
    """Tell whether a result, to which others may be added, divides another."""
    facts, out = training.facts, training.facts.outputs(op)[0]
    later = [*training.later_ops(out, lambda one: facts.op_name(one) in PASSING | {"add"}, 32)]
    made = {out, *(each for one in later if facts.op_name(one) != "divide"
                   for each in facts.outputs(one))}  # fmt: skip
    return any(facts.op_name(one) == "divide" and facts.inputs(one)[1:2] and
               facts.inputs(one)[1] in made for one in later)  # fmt: skip


def _divergence(training: Training, op: int) -> Iterator[Found]:
    facts = training.facts
    kind, _ = kind_of(training, facts.inputs(op)[0])
    if kind in {"softmax", "sigmoid", "logits"}:
        yield warning("loss-input.kl", facts.place(op), op, made=kind)
        return
    target, _ = kind_of(training, facts.inputs(op)[1])
    is_log = training.attribute(op, "log_target") == "True"
    if (target == "log" and not is_log) or (target == "softmax" and is_log):
        yield warning("loss-input.kl_target", facts.place(op), op, made=target)


def kind_of(training: Training, tensor: int, factors: int = 8) -> tuple[str, int]:
    """Return the kind of a tensor's values, and the op that made them. ``""`` if not known."""
    facts = training.facts
    op = training.origin_op(tensor)
    name = facts.op_name(op) if op >= 0 else ""
    if factors and name in {"divide", "multiply", "scale"} and len(facts.inputs(op)) == 1:
        kind, maker = kind_of(training, facts.inputs(op)[0], factors - 1)  # a temperature
        return ("logits", maker) if kind == "logits" else ("", op)
    if name in _SQUASHING:
        return _SQUASHING[name], op
    if name in {"log_softmax", "log"}:
        return "log", op
    if name in AFFINE and any(training.is_fed(one) for one in facts.inputs(op)):
        return "logits", op
    inputs = facts.inputs(op) if op >= 0 else []
    if name == "add" and training.origin_op(inputs[0]) >= 0:
        maker = training.origin_op(inputs[0])
        is_layer = any(facts.path(training.origin(one)) for one in facts.inputs(maker))
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


CHECK = Check(find, example="loss = F.cross_entropy(F.softmax(net(x)), y)")
