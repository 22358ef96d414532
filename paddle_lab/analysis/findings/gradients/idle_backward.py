"""Backward calls that do nothing: no gradient can leave the loss that they begin at.

Paddle says nothing then, and the optimizer's step leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.words import Text

_PADDLE_GRAD = "paddle.grad"


def idle_calls(facts: Facts) -> Iterator[Found]:
    """Yield the lines at fault for backward calls that begin at tensors without a gradient."""
    events = facts.record.events
    for event in facts.events("rootless_backward"):
        loss = int(events["tensor"][event])
        if not facts.needs_grad(loss) and not _begins_elsewhere(facts, event):
            yield _found(facts, event, loss)


def _begins_elsewhere(facts: Facts, event: int) -> bool:
    """Tell whether the call of an event had a graph behind another of its losses."""
    events, calls = facts.record.events, facts.record.backward_calls
    return any(
        calls["stack"][call] == events["stack"][event]
        and calls["ops_before"][call] == events["ops_before"][event]
        and bool(len(facts.nodes_of_call(call)))
        for call in facts.user_backward_calls
    )


def _found(facts: Facts, event: int, loss: int) -> Found:
    backward = facts.place_of_stack(int(facts.record.events["stack"][event]))
    behind = _behind(facts, loss)
    gradients = [op for op in map(facts.producer, behind) if op >= 0 and _is_paddle_grad(facts, op)]
    if gradients:
        op = max(gradients)
        place = facts.place(op)
        return Found(
            place=place,
            op=op,
            severity="warning",
            message=Text("findings.idle-backward.no_graph", place=place, backward=backward),
            advice=Text("findings.idle-backward.no_graph_advice"),
            marks=[Mark("cut", op=op)],
        )
    frozen = sum(facts.tensor_kind(one) == PARAMETER for one in behind)
    message = Text("findings.idle-backward.rootless", backward=backward)
    if frozen:
        message = Text("findings.idle-backward.frozen", backward=backward, n=frozen)
    return Found(
        place=backward,
        op=facts.producer(loss),
        severity="warning",
        message=message,
        advice=Text("findings.idle-backward.advice"),
        marks=[Mark("cut", op=facts.producer(loss))] if facts.producer(loss) >= 0 else [],
    )


def _is_paddle_grad(facts: Facts, op: int) -> bool:
    return facts.op_name(op) == _PADDLE_GRAD


def _behind(facts: Facts, loss: int) -> list[int]:
    """Return the tensors that a loss was computed from, as far back as the trace goes."""
    seen, pending = {loss}, [loss]
    while pending:
        op = facts.producer(pending.pop())
        if op < 0 or _is_paddle_grad(facts, op):
            continue
        for tensor in facts.inputs(op):
            if tensor not in seen:
                seen.add(tensor)
                pending.append(tensor)
    return sorted(seen)
