"""Backward calls that do nothing: no gradient can leave the loss that they begin at.

Paddle says nothing then, and the optimizer's step leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paddle_lab.analysis.findings.facts import PARAMETER, Facts, walk
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text

_PADDLE_GRAD = "paddle.grad"


def idle_calls(facts: Facts) -> Iterator[Found]:
    """Yield the lines at fault for backward calls that begin at tensors without a gradient."""
    calls = facts.record.backward_calls
    # A call with a graph behind another of its losses does something.
    with_graph = {
        (int(calls["stack"][call]), facts.ops_before(call))
        for call in facts.user_backward_calls
        if facts.nodes_of_call(call)
    }
    for event in facts.events("rootless_backward"):
        has_graph = (event.stack, event.ops_before) in with_graph
        if not facts.needs_grad(event.tensor) and not has_graph:
            yield _found(facts, facts.place_of_stack(event.stack), event.tensor)


def _found(facts: Facts, backward: Place, loss: int) -> Found:
    behind = list(walk([loss], partial(_sources, facts)))
    gradients = [op for op in map(facts.producer, behind) if op >= 0 and _is_paddle_grad(facts, op)]
    op = max(gradients) if gradients else facts.producer(loss)
    frozen = sum(facts.tensor_kind(one) == PARAMETER for one in behind)
    place, advice = backward, "advice"
    if gradients:
        place, advice = facts.place(op), "no_graph_advice"
        message = Text("findings.idle-backward.no_graph", place=place, backward=backward)
    elif frozen:
        message = Text("findings.idle-backward.frozen", backward=backward, n=frozen)
    else:
        message = Text("findings.idle-backward.rootless", backward=backward)
    return Found(
        place=place,
        op=op,
        severity="warning",
        message=message,
        advice=Text(f"findings.idle-backward.{advice}"),
        marks=[Mark("cut", op=op)] if op >= 0 else [],
    )


def _is_paddle_grad(facts: Facts, op: int) -> bool:
    return facts.op_name(op) == _PADDLE_GRAD


def _sources(facts: Facts, tensor: int) -> list[int]:
    """Return what a tensor was computed from; what ``paddle.grad`` returns has no graph."""
    op = facts.producer(tensor)
    return [] if op < 0 or _is_paddle_grad(facts, op) else facts.inputs(op)
