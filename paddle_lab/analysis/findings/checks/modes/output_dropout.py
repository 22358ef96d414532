"""Dropout was applied to the output of a net, right before the loss.

Contract (Srivastava et al. 2014): dropout drops hidden units. On the output it sets predictions to
zero and enlarges the others, whatever the net computes.

The check reports a loss that compares data with the result of a layer, if dropout came in between.
It does not report two results that are compared, or a similarity of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.checks.operands.loss_input import kind_of
from paddle_lab.analysis.findings.parts import KEEPS, Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of dropout whose result a loss compares with data."""
    training = facts.answer(Training)
    for op in training.forward_ops("dropout"):
        is_off = training.attribute(op, "is_test") == "True" or not facts.grad_nodes(op)
        is_off |= training.attribute(op, "p") in {"0", "0.0"}
        if is_off or kind_of(training, facts.inputs(op)[0])[0] != "logits":
            continue
        losses = filter(training.compares, training.readers(facts.outputs(op)[0]))
        if any(not all(map(training.is_fed, facts.inputs(loss))) for loss in losses):
            yield warning("output-dropout.found", facts.place(op), op)


CHECK = Check(find, example="loss = F.mse_loss(dropout(head(x)), y)", holds_on=KEEPS)
