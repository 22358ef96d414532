"""A mean over the batch was divided by the batch size once more.

Contract: ``reduction="mean"``, the default, already divides by the batch size. Dividing again makes
the gradient too small by this factor. If k batches are accumulated for a step, their mean losses
are divided by k and nothing else.

The check reports a backward call that begins at a mean divided by the number of samples, or by k
times this number. It does not report a division by the number of accumulated batches, or steps that
accumulate different numbers of batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import isclose

from paddle_lab.analysis.findings.parts import LOSSES, Check, Facts, Found, Training, warning

_FEWEST = 4


def find(facts: Facts) -> Iterator[Found]:
    """Yield losses that are divided twice."""
    training = facts.answer(Training)
    counts = {len(calls) for calls in training.calls_before_steps} - {0}
    if len(counts) != 1:
        return
    parts = counts.pop()
    for call in chain.from_iterable(training.calls_before_steps):
        for op in (facts.op_of_node(node) for node in facts.roots(call)):
            mean, divisor = op, 1.0
            while mean >= 0 and (factor := facts.factor(mean)) not in {0.0, 1.0}:
                divisor /= factor
                mean = facts.producer(facts.inputs(mean)[0])
            if mean < 0 or facts.op_name(mean) not in {"mean", "mean_all"}:
                continue
            samples = _samples(training, mean)
            wanted = {samples * parts} | ({samples} if samples != parts else set())
            if samples >= _FEWEST and any(isclose(divisor, one, rel_tol=1e-5) for one in wanted):
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
