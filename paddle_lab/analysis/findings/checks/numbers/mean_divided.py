"""A mean over the batch was divided by the batch size once more.

Contract: ``reduction="mean"``, the default, already divides by the batch size. Dividing again makes
the gradient too small by this factor.

The check reports a backward call that begins at a mean divided by the number of samples, if there
are no more backward calls than steps. It does not report a division by the number of accumulated
batches.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import LOSSES, Check, Facts, Found, Training, warning

_FEWEST = 4


def find(facts: Facts) -> Iterator[Found]:
    """Yield losses that are divided twice."""
    training = facts.answer(Training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    if not training.steps or len(calls) > len(training.steps):
        return
    for call in calls:
        for op in (facts.op_of_node(node) for node in facts.roots(call)):
            if op < 0 or facts.op_name(op) != "divide" or len(facts.inputs(op)) != 1:
                continue
            number = facts.attributes(op).strip()
            mean = facts.producer(facts.inputs(op)[0])
            if mean < 0 or facts.op_name(mean) not in {"mean", "mean_all"}:
                continue
            samples = _samples(training, mean)
            if samples >= _FEWEST and number in {str(samples), f"{samples}.0"}:
                yield warning("mean-divided.found", facts.place(op), op, n=samples)


def _samples(training: Training, mean: int) -> int:
    """Return the size of the batch that a mean was taken over, 0 if the size is not known."""
    facts = training.facts
    maker = facts.producer(facts.inputs(mean)[0])
    if maker >= 0 and facts.op_name(maker) in {*LOSSES, "square", "abs"}:
        shape = facts.shape(facts.inputs(maker)[0])
        return shape[0] if shape else 0
    return 0


CHECK = Check(find, example="loss = F.cross_entropy(logits, y) / x.shape[0]")
