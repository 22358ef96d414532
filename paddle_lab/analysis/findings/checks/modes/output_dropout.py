"""Dropout was applied to the output of a net, right before the loss.

Contract (Srivastava et al. 2014): dropout drops hidden units. On the output it sets predictions to
zero and enlarges the others, whatever the net computes.

The check reports a loss whose prediction dropout made from the result of a trained layer. It does
not report dropout before the last layer, on features of which a similarity is computed, or a
denoising loss, in which dropout made the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import (
    AFFINE,
    LOSSES,
    PARAMETER,
    PASSING,
    Check,
    Facts,
    Found,
    Training,
    warning,
)

_SIZES = frozenset(("square", "abs", "pow"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of dropout whose result a loss compares with a target."""
    training = facts.answer(Training)
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    said: set[int] = set()
    for op in training.forward_ops("dropout"):
        source, is_off = facts.inputs(op)[0], training.attribute(op, "is_test") == "True"
        is_off |= training.attribute(op, "p") in {"0", "0.0"}
        if not is_used[op] or is_off or facts.stack(op) in said:
            continue
        maker = training.origin_op(source)
        if maker >= 0 and facts.op_name(maker) == "add":  # the bias
            maker = training.origin_op(facts.inputs(maker)[0])
        is_layer = maker >= 0 and facts.op_name(maker) in AFFINE and any(
            facts.tensor_kind(training.origin(one)) == PARAMETER for one in facts.inputs(maker)
        )  # fmt: skip
        if is_layer and any(_compares(training, one, source) for one in _next(training, op)):
            said.add(facts.stack(op))
            yield warning("output-dropout.found", facts.place(op), op)


def _next(training: Training, op: int) -> Iterator[int]:
    """Yield the ops that read a result of dropout, past those that only move values."""
    names, moving = training.facts.op_name, PASSING - {"dropout", "concat", "stack"}
    ops = training.later_ops(training.facts.outputs(op)[0], lambda one: names(one) in moving, 32)
    return (one for one in ops if names(one) not in moving)


def _compares(training: Training, op: int, source: int) -> bool:
    """Tell whether an op is a loss of a dropped result and data."""
    facts, result = training.facts, training.origin(source)
    if facts.op_name(op) == "subtract":
        later = (one for out in facts.outputs(op) for one in facts.consumers(out) if one >= 0)
        is_loss = any(facts.op_name(one) in _SIZES for one in later)
    else:
        is_loss = facts.op_name(op) in LOSSES
    others = [one for one in facts.inputs(op) if training.origin(one) != result]
    return is_loss and not any(map(training.is_fed, others))


CHECK = Check(find, example="loss = F.mse_loss(dropout(head(x)), y)")
