"""Known defects of Paddle: wrong or missing gradients if a part of a norm is frozen.

Paddle 3.3 has both defects on the CPU; a test fails once Paddle is repaired. If the scale of
``layer_norm`` is frozen or a buffer, the gradient of the input ignores the scale. If the scale or
the bias of ``batch_norm`` is frozen or absent, the other one gets no gradient.

The check does not report a frozen scale of ones in ``layer_norm``, because it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_SCALE, _BIAS = 3, 4
_ONES = frozenset(("full", "full_"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield the norms that have a frozen part and were used by a backward call."""
    training = facts.answer(Training)
    frozen = facts.answer(GradientCuts).trained.frozen
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for op in training.forward_ops("layer_norm", "batch_norm", "batch_norm_"):
        if not is_used[op]:
            continue
        given = dict(zip(facts.input_slots(op), facts.inputs(op), strict=True))
        place = facts.record.text(int(facts.record.tensors["place"][given[0]]))
        if "gpu" in place.lower():
            continue
        if facts.op_name(op) == "layer_norm":
            scale = given.get(1, given[0])
            is_frozen = facts.first_value(scale) in frozen or not facts.needs_grad(scale)
            if is_frozen and facts.needs_grad(given[0]) and not _is_ones(facts, scale):
                yield warning("frozen-norm-part.scale", facts.place(op), op)
        else:
            parts = [given[slot] for slot in (_SCALE, _BIAS) if slot in given]
            learning = [
                one for one in parts
                if facts.first_value(one) not in frozen and facts.needs_grad(one)
            ]  # fmt: skip
            if len(learning) == 1:
                made = training.creation_place(learning[0])
                yield warning("frozen-norm-part.other", made if made.line else facts.place(op), op)


def _is_ones(facts: Facts, scale: int) -> bool:
    """Tell whether a scale was made with ones and, as far as the trace knows, not changed."""
    first = facts.first_value(scale)
    maker = facts.producer(first)
    is_full = maker >= 0 and facts.op_name(maker) in _ONES
    is_first = scale == first and is_full and "value=1.0" in facts.attributes(maker)
    return is_first and not any(
        event.tensor >= 0 and facts.first_value(event.tensor) == first
        for event in facts.events("overwritten")
    )


CHECK = Check(find, example="norm.weight.stop_gradient = True")
