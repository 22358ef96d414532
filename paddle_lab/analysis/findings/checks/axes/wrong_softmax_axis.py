"""Softmax ran over the wrong axis.

Contract: a softmax of class scores sums to 1 for each sample. Attention weights sum to 1 along the
axis that the next matrix product sums over. A softmax over the batch mixes samples.

The check does not report weights of shape [N, 1] for pooling over a set, or weights that are
normalised again.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield softmaxes over the batch, and over an axis that ``matmul`` then does not sum over."""
    training = facts.answer(Training)
    for op in training.forward_ops("softmax", "log_softmax"):
        axis, result = training.attribute(op, "axis"), facts.outputs(op)[0]
        shape = facts.shape(result)
        if not axis.lstrip("-").isdigit() or not training.is_fed(result) or len(shape) < 2:
            continue
        at = int(axis) % len(shape)
        if at == 0 and min(shape[:2]) > 1 and len(shape) == 2:
            for loss in training.reached_losses(result):
                labels = facts.shape(facts.inputs(loss)[1]) if len(facts.inputs(loss)) > 1 else ()
                if labels[:1] == shape[:1] and training.attribute(loss, "axis") != "0":
                    yield warning("wrong-softmax-axis.batch", facts.place(op), op, n=shape[0])
                    break
        elif facts.op_name(op) == "softmax" and at < len(shape) - 1 and shape[at] > 1:
            for reader in _products(training, result):
                flip = "transpose_x" if facts.inputs(reader)[0] == result else "transpose_y"
                is_flipped = training.attribute(reader, flip) == "True"
                is_left = flip == "transpose_x"
                summed = len(shape) - 1 if is_left != is_flipped else len(shape) - 2
                if at != summed:
                    yield warning("wrong-softmax-axis.product", facts.place(op), op, axis=at,
                                  summed=summed)  # fmt: skip
                    break


def _products(training: Training, result: int) -> Iterator[int]:
    facts = training.facts
    waiting = list(facts.consumers(result))
    for op in waiting:
        if facts.op_name(op) == "matmul":
            yield op


CHECK = Check(
    find=find,
    example="probabilities = F.softmax(logits, axis=0)",
)
