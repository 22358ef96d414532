"""Known defect: on the CPU, ``layer_norm`` gives a wrong input gradient if its scale is frozen.

Seen in Paddle 3.3 on CPU: the gradient of the input ignores the scale if the scale has
``stop_gradient = True`` (a test fails once it is mended).

Reported where a gradient passed to the input. On other devices, and with a scale of ones (the
gradient is right then), nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.facts.training import Training
from paddle_lab.analysis.findings.finding import Found, warning
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts


def find(facts: Facts) -> Iterator[Found]:
    """Yield layer norms with a frozen scale whose input needs a gradient."""
    training = facts.answer(Training)
    frozen = facts.answer(GradientCuts).trained.frozen
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for op in training.forward_ops("layer_norm"):
        given = facts.inputs(op)
        if len(given) < 2 or not is_used[op] or not facts.needs_grad(given[0]):
            continue
        scale = given[1]
        place = facts.record.text(int(facts.record.tensors["place"][given[0]]))
        is_known = facts.tensor_kind(scale) == PARAMETER and "gpu" not in place.lower()
        is_slot = facts.input_slots(op)[1] == 1
        if is_known and is_slot and facts.first_value(scale) in frozen and _is_set(facts, scale):
            yield warning("layer-norm-scale.found", facts.place(op), op)


def _is_set(facts: Facts, scale: int) -> bool:
    """Tell whether a scale was given other values than ones, as far as the trace knows."""
    first = facts.first_value(scale)
    if facts.producer(first) < 0:
        return True
    return any(
        event.tensor >= 0 and facts.first_value(event.tensor) == first
        for event in facts.events("overwritten")
    )


CHECK = Check(
    kind="layer-norm-scale",
    find=find,
    example="norm.weight.stop_gradient = True",
    shared_cost="always",
)
