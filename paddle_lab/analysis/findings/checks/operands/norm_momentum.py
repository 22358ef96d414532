"""Batch norm has a small momentum and hardly averages its statistics.

Contract (``paddle.nn.BatchNorm2D``): ``running = momentum * running + (1 - momentum) * batch``, so
0.9 is usual. In PyTorch the factors are exchanged, and 0.1 is usual. With 0.1 in Paddle, the
running statistics are nearly those of the last batch.

The check does not report a momentum of 0.5 or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that made such layers. If a line is not known, yield the line of the call."""
    training = facts.answer(Training)
    for op in training.forward_ops("batch_norm", "batch_norm_", "sync_batch_norm_"):
        momentum = training.attribute(op, "momentum")
        if training.attribute(op, "is_test") == "True" or not momentum:
            continue
        if 0 < float(momentum) < 0.5:
            made = [
                place for one in facts.inputs(op) if (place := training.creation_place(one)).line
            ]
            place = made[-1] if made else facts.place(op)
            yield warning("norm-momentum.found", place, op, momentum=momentum,
                          usual=f"{1 - float(momentum):.4g}")  # fmt: skip


CHECK = Check(find, example="nn.BatchNorm2D(64, momentum=0.1)")
