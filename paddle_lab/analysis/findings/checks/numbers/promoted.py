"""Data in float64 promoted the results of a net, or a narrow dtype made whole numbers equal.

Contract (Paddle's type promotion): float32 with float64 gives float64. NumPy makes float64 by
default, so a forgotten ``astype("float32")`` makes the loss and its gradients float64. bfloat16
holds whole numbers exactly up to 256, float16 up to 2,048: larger positions or identifiers collide.

The check does not report tensors of one value, or nets in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_EXACT = {"bfloat16": 256, "float16": 2048}


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

    for op in training.forward_ops("cast"):
        source, to = training.origin(facts.inputs(op)[0]), facts.dtype(facts.outputs(op)[0])
        maker, seen = facts.producer(source), training.glance(source)
        is_range = maker >= 0 and facts.op_name(maker) == "arange"
        largest = facts.shape(source)[0] - 1 if is_range else seen.largest if seen else 0
        if to in _EXACT and "int" in facts.dtype(source) and largest > _EXACT[to]:
            numbers = {"largest": f"{largest:.0f}", "exact": _EXACT[to], "dtype": to}
            yield warning("promoted.narrowed", facts.place(op), op, **numbers)


CHECK = Check(
    find=find,
    example="loss = ((net(x) - paddle.to_tensor(np.random.randn(8, 1))) ** 2).mean()",
)
