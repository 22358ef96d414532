"""Functional dropout was active inside a layer in ``eval()`` mode.

Contract (``paddle.nn.functional.dropout``): ``training`` is ``True`` unless
``training=self.training`` is passed. ``scaled_dot_product_attention`` has the same argument.

The check does not report Monte Carlo dropout: a Dropout layer that was itself set to ``train()``,
or a line that passes ``training``.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of active dropouts inside layers in ``eval()`` mode."""
    training = facts.answer(Training)
    for op in training.forward_ops("dropout", "flash_attn"):
        around = training.layers_around(op)
        is_active = training.attribute(op, "is_test") == "False"
        if not is_active or not around or training.attribute(op, "p") in {"0", "0.0"}:
            continue
        place = facts.place(op)
        if around[0] in training.evaluating and "training=" not in place.code.replace(" ", ""):
            yield warning(
                "functional-dropout.found", place, op, layer=training.layer_class(around[0])
            )


CHECK = Check(
    find=find,
    example="x = F.dropout(x, 0.5)  # without training=self.training",
)
