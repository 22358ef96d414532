"""Data in float64 promoted the results of a net, or a narrow dtype made whole numbers equal.

Contract (Paddle's type promotion): float32 with float64 gives float64. NumPy makes float64 by
default, so a forgotten ``astype("float32")`` makes the loss and its gradients float64. bfloat16
holds whole numbers exactly up to 256, float16 up to 2,048: larger positions or identifiers collide.
So do those that int8, uint8 or int16 cannot hold.

uint8 keeps the last 8 bits of a result: 200 + 70 is 14, and 3 - 5 is 254. The check reports sums,
differences and products of data in uint8 that leave the range of 0 to 255, if they become floats.

The check does not report tensors of one value, or nets in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.parts import PASSING, Check, Facts, Found, Training, warning

_EXACT = {"bfloat16": 256, "float16": 2048, "uint8": 255, "int8": 127, "int16": 32767}
_LARGEST = 255


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

    yield from _unfit(training)


def _unfit(training: Training) -> Iterator[Found]:
    """Yield casts to a dtype that is too narrow, and ops whose results in uint8 wrap around."""
    facts = training.facts
    for op in training.forward_ops("cast"):
        source, to = training.origin(facts.inputs(op)[0]), facts.dtype(facts.outputs(op)[0])
        maker, data = facts.producer(source), training.glance(source)
        is_range = maker >= 0 and facts.op_name(maker) == "arange"
        largest = facts.shape(source)[0] - 1 if is_range else data.largest if data else 0
        if to in _EXACT and "int" in facts.dtype(source) and largest > _EXACT[to]:
            numbers = {"largest": f"{largest:.0f}", "exact": _EXACT[to], "dtype": to}
            yield warning("promoted.narrowed", facts.place(op), op, **numbers)
    for op in training.forward_ops("add", "subtract", "multiply"):
        result, number = facts.outputs(op)[0], facts.attributes(op).strip()
        seen = [one for one in map(training.glance, facts.inputs(op)) if one is not None]
        if facts.dtype(result) != "uint8" or len(seen) != len(facts.inputs(op)):
            continue
        low, high = sum(one.smallest for one in seen), sum(one.largest for one in seen)
        if number.isdigit() and len(seen) == 1:
            name, n = facts.op_name(op), int(number)
            high = high + n if name == "add" else high * n if name == "multiply" else high
            is_out = low < n < high if name == "subtract" else high > _LARGEST  # or n - data
        else:
            is_out = len(seen) == 2 and high > _LARGEST
        later = training.later_ops(result, lambda one: facts.op_name(one) in PASSING, 16)
        if is_out and any("float" in facts.dtype(facts.outputs(one)[0]) for one in later):
            numbers = {"low": f"{seen[0].smallest:g}", "high": f"{seen[0].largest:g}"}
            yield warning("promoted.wraps", facts.place(op), op, **numbers)


CHECK = Check(
    find=find,
    example="loss = ((net(x) - paddle.to_tensor(np.random.randn(8, 1))) ** 2).mean()",
)
