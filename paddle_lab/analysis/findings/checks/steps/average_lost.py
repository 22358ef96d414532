"""A moving average of parameters is computed, but has no effect.

Contract: an average ``a * own + b * other`` is written back, by ``set_value`` or ``assign``, and
``other`` is a second net. ``own = a * own + b * other`` only gives the result another name.

The check reports such sums without a graph if nothing uses any result of a line, or if both
sides are one parameter and the result is written into it.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import PARAMETER, Check, Facts, Found, Training, warning

_WEIGHTED = frozenset(("multiply", "scale"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that compute averages in vain."""
    training = facts.answer(Training)
    written = {(_base(facts, one.tensor), one.ops_before) for one in facts.events("overwritten")}
    lines: dict[int, list[tuple[int, bool, bool]]] = {}
    for op in training.forward_ops("add", "lerp"):
        averaged = [_averaged(facts, one) for one in facts.inputs(op)[:2]]
        own, other = averaged if len(averaged) == 2 else (-1, -1)
        if own < 0 or other < 0 or facts.needs_grad(facts.outputs(op)[0]):
            continue
        is_itself = own == other and (own, op + 1) in written
        is_unused = own != other and training.is_unused(facts.outputs(op)[0])
        lines.setdefault(facts.stack(op), []).append((op, is_itself, is_unused))
    for found in lines.values():
        op, n = found[0][0], len(found)
        if n > 1 and all(is_itself for _, is_itself, _ in found):
            yield warning("average-lost.itself", facts.place(op), op, n=n)
        elif n > 2 and all(is_unused for _, _, is_unused in found[:-1]):  # the last one has a name
            yield warning("average-lost.unused", facts.place(op), op, n=n)


def _averaged(facts: Facts, tensor: int) -> int:
    """Return the parameter of which a tensor is a multiple, as its first value, else -1."""
    maker = facts.producer(tensor)
    if maker >= 0 and facts.op_name(maker) in _WEIGHTED:
        given = [_base(facts, one) for one in facts.inputs(maker)]
        tensor = next((one for one in given if facts.tensor_kind(one) == PARAMETER), tensor)
    base = _base(facts, tensor)
    return base if facts.tensor_kind(base) == PARAMETER else -1


def _base(facts: Facts, tensor: int) -> int:
    """Return the first value of a tensor, or of the parameter whose memory it shares."""
    first = facts.first_value(tensor)
    base = facts.first_value(facts.detached_from(first)) if facts.detached_from(first) >= 0 else -1
    return base if base >= 0 and facts.tensor_kind(base) == PARAMETER else first


CHECK = Check(find, example="for a, p in zip(ema, net.parameters()):\n    a = 0.99 * a + 0.01 * p")
