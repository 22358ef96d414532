"""Softmax, or the division by a norm, ran over the wrong axis.

Contract: a softmax of class scores sums to 1 for each sample. Attention weights sum to 1 along the
axis that the next matrix product sums over. A softmax over the batch mixes samples. A product of
two normalised tensors is their cosine similarity only if it sums over the normalised axis.

The check does not report weights of shape [N, 1] for pooling over a set, or weights that are
normalised again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_ONE = re.compile(r"\[?((?::, )*)-?\d+\]?")


def find(facts: Facts) -> Iterator[Found]:
    """Yield softmaxes over the batch, and over an axis that ``matmul`` then does not sum over."""
    training = facts.answer(Training)
    for op in training.forward_ops("softmax", "log_softmax"):
        axis, result = training.attribute(op, "axis"), facts.outputs(op)[0]
        shape = facts.shape(result)
        if not axis.lstrip("-").isdigit() or not training.is_fed(result) or len(shape) < 2:
            continue
        at = int(axis) % len(shape)
        is_batch = shape[1] > 1 if len(shape) == 2 else shape[0] not in shape[1:]
        if at == 0 and shape[0] > 1 and is_batch:
            for loss in training.reached_losses(result):
                labels = facts.shape(facts.inputs(loss)[1]) if len(facts.inputs(loss)) > 1 else ()
                if labels[:1] == shape[:1] and training.attribute(loss, "axis") != "0":
                    yield warning("wrong-softmax-axis.batch", facts.place(op), op, n=shape[0])
                    break
        elif facts.op_name(op) == "softmax" and at < len(shape) - 1 and shape[at] > 1:
            for reader in facts.consumers(result):
                if facts.op_name(reader) != "matmul":
                    continue
                flip = "transpose_x" if facts.inputs(reader)[0] == result else "transpose_y"
                is_flipped = training.attribute(reader, flip) == "True"
                is_last = (flip == "transpose_x") != is_flipped
                summed = len(shape) - 1 if is_last else len(shape) - 2
                if at != summed:
                    yield warning("wrong-softmax-axis.product", facts.place(op), op, axis=at,
                                  summed=summed)  # fmt: skip
                    break

    yield from _cosines(training)


def _cosines(training: Training) -> Iterator[Found]:
    """Yield the products of two normalised tensors that sum over another axis."""
    facts = training.facts
    for op in training.forward_ops("matmul"):
        norms = [_normalised(training, one) for one in facts.inputs(op)[:2]]
        flips = [training.attribute(op, name) == "True" for name in ("transpose_x", "transpose_y")]
        ranks = [len(facts.shape(one)) for one in facts.inputs(op)[:2]]
        if min(ranks, default=0) < 2 or min(at for at, _ in norms) < 0:
            continue
        summed = [
            rank - 1 - (side != flip) for rank, side, flip in zip(ranks, (0, 1), flips, strict=True)
        ]
        if all(at != wanted for (at, _), wanted in zip(norms, summed, strict=True)):
            at, norm = norms[0]
            values = {"axis": at, "summed": summed[0]}
            yield warning("wrong-softmax-axis.cosine", facts.place(norm), norm, **values)


def _normalised(training: Training, tensor: int) -> tuple[int, int]:
    """Return the axis along which a trained tensor was divided by its norm, and the norm's op."""
    facts, order = training.facts, list(range(len(training.facts.shape(tensor))))
    for _ in range(4):
        op = facts.producer(tensor)
        name, inputs = (facts.op_name(op), facts.inputs(op)) if op >= 0 else ("", [])
        if name == "transpose":
            perm = [int(one) for one in training.attribute(op, "perm").strip("[]").split(",")]
            order = [perm[at] for at in order]
        elif name == "divide" and len(inputs) == 2:
            norm = facts.producer(inputs[1])
            while norm >= 0 and facts.op_name(norm) in {"maximum", "clip", "add"}:
                norm = facts.producer(facts.inputs(norm)[0])
            axis = training.attribute(norm, "axis") if norm >= 0 else ""
            is_norm = norm >= 0 and facts.op_name(norm) == "p_norm" and axis.lstrip("-").isdigit()
            if not is_norm or facts.inputs(norm)[0] != inputs[0] or not training.is_fed(tensor):
                break
            at = int(axis) % len(facts.shape(tensor))
            return (order.index(at) if at in order else len(order)), norm
        elif name == "getitem" and (index := _ONE.fullmatch(facts.attributes(op))):
            order = [at + (at >= index[1].count(",")) for at in order]  # an index removes its axis
        elif name != "concat":
            break
        tensor = inputs[0]
    return -1, -1


CHECK = Check(find, example="probabilities = F.softmax(logits, axis=0)")
