"""Data went into a layer at another scale than the layer's weights are made for.

Contract: initial weights expect features with a mean near 0 and a deviation near 1 (LeCun et al.
1998, Glorot and Bengio 2010). Pixels are divided by 255.

The check reports data with a root mean square of at least 30 that goes straight into a trained
layer, if no norm follows this layer, and data whose whole range is at most 0.01. It also reports
``//`` and casts that turn nearly all data to zero, and pixels of at most 1 that are divided by 255.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.facts.training import Glance
from paddle_lab.analysis.findings.parts import AFFINE, PASSING, Found, Training, warning

_LARGE = 30.0
_NARROW = 0.01
_FEWEST = 16
_MANY = 64
_PIXELS = {127, 128, 255, 256}
_SUMS = {"add", "bias_add"}


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines at which data of another scale enters a net."""
    training = facts.answer(Training)
    yield from _rounded_down(training)
    if not any(_scale(seen) for seen in training.glances.values()):
        return
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for op in training.forward_ops("rnn", *AFFINE):
        pair = facts.inputs(op)
        if not is_used[op] or PARAMETER not in map(facts.tensor_kind, pair[1:4]):
            continue
        seen = training.glance(training.origin(pair[0]))
        kind = "" if seen is None else _scale(seen)
        if seen is None or not kind:
            continue
        if not _is_normalised(training, op):
            low, high = f"{seen.smallest:.4g}", f"{seen.largest:.4g}"
            place = facts.model_place(op)
            yield warning(f"input-scale.{kind}", place, op, smallest=low, largest=high)


def _scale(seen: Glance) -> str:
    """Return what data of such a scale is called in a finding; ``""`` for a usual scale."""
    if seen.elements >= _MANY and 0 < seen.largest - seen.smallest <= _NARROW:
        return "narrow"
    if seen.root_mean_square < _LARGE or seen.elements < _FEWEST:
        return ""
    return "pixels" if seen.smallest >= 0 and 64 < seen.largest <= 255 else "found"


def _rounded_down(training: Training) -> Iterator[Found]:
    """Yield the lines that round nearly all data down to zero, or that divide it again."""
    facts = training.facts
    for op in training.forward_ops("scale", "divide", "multiply"):
        factor, source = facts.factor(op), training.origin(facts.inputs(op)[0])
        seen = training.glance(source) if factor and round(1 / factor) in _PIXELS else None
        is_small = seen is not None and seen.elements >= _MANY and 0 < seen.largest <= 1
        if is_small and "float" in facts.dtype(source):
            yield warning("input-scale.again", facts.place(op), op)
    for op in training.forward_ops("floor_divide"):
        seen = training.glance(training.origin(facts.inputs(op)[0]))
        number = facts.attributes(op).strip()
        if seen is not None and number.isdigit() and 0 < seen.largest < 2 * int(number):
            yield warning("input-scale.floor", facts.place(op), op, number=number,
                          largest=f"{seen.largest:.4g}")  # fmt: skip
    for op in training.forward_ops("cast"):
        source, factor = training.origin(facts.inputs(op)[0]), 1.0
        maker = facts.producer(source)
        if maker >= 0 and (factor := facts.factor(maker)) != 1:
            source = training.origin(facts.inputs(maker)[0])
        seen = training.glance(source)
        to = facts.dtype(facts.outputs(op)[0])
        if seen is None or seen.elements < _FEWEST or "int" not in to:
            continue
        is_part = not seen.is_whole or factor != 1
        is_lost = is_part and seen.smallest * factor > -1 and 0 < seen.largest * factor < 1
        if is_lost:
            yield warning("input-scale.cast", facts.place(op), op, dtype=to,
                          largest=f"{seen.largest * factor:.4g}")  # fmt: skip


def _is_normalised(training: Training, op: int) -> bool:
    facts, out = training.facts, training.facts.outputs(op)[0]
    later = training.later_ops(out, lambda one: facts.op_name(one) in PASSING | _SUMS, 16)
    return any(facts.op_name(one).endswith(("_norm", "_norm_")) for one in later)


CHECK = Check(find, example="net(paddle.to_tensor(pixels))  # 0 to 255")
