"""A mask of zeros and ones was added to attention scores.

Contract (``scaled_dot_product_attention``, ``MultiHeadAttention``): a mask of floats is added to
scores, so masked positions need a large negative number. An added mask of zeros and ones changes
scores by 1 and hides nothing. If scores are multiplied by such a mask, masked scores become 0, and
softmax does not hide these either.

The check reports only masks that are data, or that comparisons, ``tril`` or ``triu`` made. It does
not report learned or computed biases.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_COMPARING = frozenset(
    ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal",
     "logical_not", "logical_and", "logical_or", "bitwise_not")
)  # fmt: skip


def find(facts: Facts) -> Iterator[Found]:
    """Yield the ops that add scores to such a mask, or multiply them, for a softmax."""
    training = facts.answer(Training)
    for op in training.forward_ops("add", "multiply"):
        pair = facts.inputs(op)
        if len(pair) != 2 or not _goes_to_softmax(training, facts.outputs(op)[0]):
            continue
        for scores, mask in (pair, pair[::-1]):
            if training.is_fed(scores) and not training.is_fed(mask) and _is_mask(training, mask):
                key = "added" if facts.op_name(op) == "add" else "multiplied"
                yield warning(f"mask-added.{key}", facts.place(op), op)


def _goes_to_softmax(training: Training, tensor: int) -> bool:
    return any(training.facts.op_name(op) == "softmax" for op in training.readers(tensor))


def _is_mask(training: Training, tensor: int) -> bool:
    facts = training.facts
    source = training.origin(tensor)
    op = facts.producer(source)
    if op < 0:
        seen = training.glance(source)
        return (
            seen is not None and seen.is_whole and (seen.smallest, seen.largest) == (0, 1)
            and seen.elements > 1
        )  # fmt: skip
    if facts.op_name(op) in _COMPARING:
        return True
    if facts.op_name(op) in {"tril", "triu"} and facts.inputs(op):
        made = facts.producer(training.origin(facts.inputs(op)[0]))
        is_full = made >= 0 and facts.op_name(made) in {"full", "ones_like", "full_like"}
        return is_full and training.attribute(made, "value") in {"1", "1.0"}
    return False


CHECK = Check(find, example="scores = scores + paddle.tril(paddle.ones([t, t]))")
