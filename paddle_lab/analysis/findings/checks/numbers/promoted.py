"""Data in float64 promoted the results of a net in float32.

Contract (Paddle's type promotion): float32 with float64 gives float64. NumPy makes float64 by
default, so a forgotten ``astype("float32")`` makes the loss and its gradients float64.

The check does not report tensors of one value, or nets in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines at which data in float64 promotes a result of the net."""
    training = facts.answer(Training)
    for op in training.forward_ops("add", "subtract", "multiply", "divide", "maximum", "minimum"):
        pair = facts.inputs(op)
        if len(pair) != 2 or [facts.dtype(one) for one in pair].count("float64") != 1:
            continue
        narrow, wide = sorted(pair, key=facts.dtype)
        is_data = facts.producer(training.origin(wide)) < 0 and not training.is_fed(wide)
        is_promoted = facts.dtype(narrow) == "float32" and training.is_fed(narrow)
        is_trained = facts.needs_grad(facts.outputs(op)[0])
        if is_data and is_promoted and is_trained and prod(facts.shape(wide)) > 1:
            yield warning("promoted.found", facts.place(op), op, shape=list(facts.shape(wide)))


CHECK = Check(
    find=find,
    example="loss = ((net(x) - paddle.to_tensor(np.random.randn(8, 1))) ** 2).mean()",
)
