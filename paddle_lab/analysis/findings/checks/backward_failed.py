"""Backward raised: the line whose op made the grad node that did.

The traceback of a failing backward ends at ``loss.backward()``. The grad node that raised was made
by an op of the forward, lines or files away. It is found by what the exception says and by the
graph (:mod:`paddle_lab.analysis.findings.saved.failed_backward`). Where neither tells, the finding
is at the line of the backward call and says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.saved.failed_backward import (
    FailedBackward,
    failed_backwards,
    reason,
)
from paddle_lab.words import Text

_ADVICE = {
    "modified": Text("findings.backward-failed.advice_modified"),
    "twice": Text("findings.backward-failed.advice_twice"),
    "no_double_grad": Text("findings.backward-failed.advice_no_double_grad"),
    "pylayer": Text("findings.backward-failed.advice_pylayer"),
    "python": Text("findings.backward-failed.advice_python"),
}


def find(facts: Facts) -> Iterator[Found]:
    """Yield each backward call that raised, at the line that made the grad node in question."""
    for failed in facts.answer(failed_backwards):
        yield _found(facts, failed)


def _found(facts: Facts, failed: FailedBackward) -> Found:
    op = facts.op_of_node(failed.grad_node) if failed.grad_node >= 0 else -1
    said = _reason(facts, failed)
    call = facts.place_of_call(failed.call)
    if op >= 0:
        place = facts.place(op)
        name = facts.grad_node_name(failed.grad_node)
        message = Text(
            "findings.backward-failed.found", call=call, place=place, name=name, why=said
        )
    else:
        place = call
        message = Text("findings.backward-failed.somewhere", call=call, why=said)
    if failed.earlier_call >= 0:
        earlier = facts.place_of_call(failed.earlier_call)
        message = Text("findings.backward-failed.twice", call=call, place=place, earlier=earlier)
    return Found(
        place=place,
        op=op,
        grad_node=failed.grad_node,
        severity="error",
        message=message,
        marks=[Mark("failed", op=op, grad_node=failed.grad_node)] if op >= 0 else [],
        advice=_ADVICE.get(failed.cause),
    )


def _reason(facts: Facts, failed: FailedBackward) -> Text | str:
    if failed.cause == "modified":
        return Text("findings.backward-failed.modified")
    return reason(facts.backward_error(failed.call))


CHECK = Check(
    kind="backward-failed",
    find=find,
    example="loss = net(x).sum()\nloss.backward()\nloss.backward()  # its graph is gone",
    consequence_of=("inplace-modified", "pylayer-argument", "graph-kept"),
)
