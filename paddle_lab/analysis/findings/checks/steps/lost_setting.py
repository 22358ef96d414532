"""An attribute was set on an optimizer, but Paddle reads the setting from another one.

Contract (``Optimizer.set_lr``): a method changes the learning rate. Paddle keeps its settings in
attributes with an underscore, so ``opt.learning_rate = 0.1`` only makes a new attribute.

The check does not report attributes that a method of the optimizer's class reads, attributes of
other names, or attributes with the value that is in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that set attributes without effect."""
    training = facts.answer(Training)
    for call in training.called("lost_setting"):
        kind, name = call.detail
        advice = None if "lr" in name or "rate" in name else Text("findings.lost-setting.other")
        yield warning("lost-setting.found", training.place(call), -1, name=name, kind=kind,
                      advice=advice)  # fmt: skip


CHECK = Check(
    find=find,
    example="opt.learning_rate = 0.01",
)
