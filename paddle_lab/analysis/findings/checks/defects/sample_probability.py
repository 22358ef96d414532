"""``paddle.distribution.Categorical`` gave samples and probabilities that do not belong together.

Defect (Paddle 3.3, ``distribution/categorical.py``): ``sample`` and ``entropy`` take the input as
logits and apply softmax. ``probs`` and ``log_prob`` take the same input as probabilities and divide
it by its sum. No input suits both. Furthermore, ``log_prob`` looks up each entry of a 1-D value
in each distribution: a batch of N gives [N, N].

The check reports a line whose distributions are used in both ways and whose log-probabilities are
trained. It is a hint if the input is positive, as in the documentation: then only the samples are
wrong. The check also reports a value of shape [N] for N distributions whose result meets another
tensor of shape [N]. Distributions that are only sampled, or never, are right.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.checks.operands.loss_input import kind_of
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Severity, Training, found


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that make such distributions, or look up values in all of them."""
    training = facts.answer(Training)
    drawn: dict[Place, tuple[int, str]] = {}
    logged: set[Place] = set()
    for op in training.forward_ops("divide"):
        pair = facts.inputs(op)
        total = facts.producer(pair[1]) if len(pair) == 2 else -1
        is_sum = total >= 0 and facts.op_name(total) == "sum" and facts.inputs(total) == pair[:1]
        if not is_sum or not training.is_fed(pair[0]):
            continue
        for taken in training.readers(facts.outputs(op)[0]):
            if facts.op_name(taken) == "take_along_axis" and facts.needs_grad(pair[0]):
                logged.add(facts.place(op))
                yield from _all_pairs(training, taken)
        if any(_is_drawn(training, one) for one in facts.consumers(pair[0])):
            drawn.setdefault(facts.place(op), (op, kind_of(training, pair[0])[0]))
    for place in logged & drawn.keys():
        op, kind = drawn[place]
        severity: Severity = "warning" if kind in {"logits", "log"} else "info"
        yield found("sample-probability.found", place, op, severity=severity)


def _is_drawn(training: Training, op: int) -> bool:
    """Tell whether an op is a softmax from which samples are drawn."""
    facts = training.facts
    readers = training.readers(facts.outputs(op)[0]) if facts.op_name(op) == "softmax" else ()
    return any(facts.op_name(one) == "multinomial" for one in readers)


def _all_pairs(training: Training, op: int) -> Iterator[Found]:
    """Yield a look-up of N values in N distributions, if each was meant for one distribution."""
    facts, out = training.facts, training.facts.outputs(op)[0]
    index = facts.inputs(op)[1]
    while (maker := facts.producer(index)) >= 0 and facts.op_name(maker) in {"reshape", "expand"}:
        index = facts.inputs(maker)[0]
    n = facts.shape(index)
    made = facts.shape(out)
    if len(n) != 1 or n[0] < 2 or made != n * 2:
        return
    later = training.later_ops(out, lambda one: facts.shape(facts.outputs(one)[0]) == made, 32)
    if any(n in map(facts.shape, facts.inputs(one)) for one in later):
        yield found("sample-probability.pairs", facts.place(op), op, n=n[0])


CHECK = Check(
    find=find,
    example="dist = Categorical(F.softmax(logits))\nloss = -dist.log_prob(dist.sample([1])[0])",
)
