"""``squeeze`` without an axis removed the batch axis of a batch of one sample.

Contract (``paddle.squeeze``): without ``axis`` every axis of size 1 is removed. If the last batch
has one sample, the result has one axis less than for other batches, and broadcasting mixes values.

The check reports a line whose results have fewer axes for a batch of one sample than for others.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the squeezes that removed the batch axis."""
    training = facts.answer(Training)
    ranks: dict[int, set[int]] = {}
    ops = [op for op in training.forward_ops("squeeze", "squeeze_") if facts.inputs(op)]
    for op in ops:
        if _shape(facts, op)[:1] != (1,) and training.attribute(op, "axis") == "[]":
            ranks.setdefault(facts.stack(op), set()).add(len(facts.shape(facts.outputs(op)[0])))
    for op in ops:
        usual = ranks.get(facts.stack(op))
        result = facts.outputs(op)[0]
        if usual and _shape(facts, op)[0] == 1 and len(facts.shape(result)) < min(usual):
            shape, made = list(_shape(facts, op)), list(facts.shape(result))
            yield warning("collapsed-batch.found", facts.place(op), op, shape=shape, made=made)


def _shape(facts: Facts, op: int) -> tuple[int, ...]:
    return facts.shape(facts.inputs(op)[0]) or (0,)


CHECK = Check(find, example="scores = net(x).squeeze()  # the last batch has one sample")
