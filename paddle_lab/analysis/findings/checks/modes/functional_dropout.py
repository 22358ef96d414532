"""Functional dropout or batch norm was in training mode inside a layer in ``eval()`` mode.

Contract (``paddle.nn.functional.dropout``): ``training`` is ``True`` unless
``training=self.training`` is passed. ``scaled_dot_product_attention`` has the same argument, and
so has ``batch_norm``, which then also changes the running statistics.

The check does not report Monte Carlo dropout: a Dropout layer that was itself set to ``train()``,
or a line that passes ``training``.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import KEEPS, Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of active dropouts inside layers in ``eval()`` mode."""
    training = facts.answer(Training)
    for op in training.forward_ops("dropout", "flash_attn", "batch_norm", "batch_norm_"):
        around = training.layers_around(op)
        is_active = training.attribute(op, "is_test") == "False"
        if not is_active or not around or training.attribute(op, "p") in {"0", "0.0"}:
            continue
        place, is_norm = facts.place(op), facts.op_name(op).startswith("batch_norm")
        is_meant = "training=" in place.code.partition("#")[0].replace(" ", "")
        layer, is_evaluating = training.classes_around(op)[0], around[0] in training.evaluating
        if is_evaluating and is_norm and "Norm" not in layer:
            yield warning("functional-dropout.norm", place, op, layer=layer)
        elif is_evaluating and not is_norm and not is_meant:
            yield warning("functional-dropout.found", place, op, layer=layer)


CHECK = Check(find, example="x = F.dropout(x, 0.5)  # without training=…", holds_on=KEEPS)
