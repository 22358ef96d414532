"""Backward raised: find the line whose op made the grad node that raised.

The traceback of a failing backward ends at ``loss.backward()``. The grad node that raised was made
by an op of the forward, perhaps in another file. The text of the exception and the graph identify
this grad node (:mod:`paddle_lab.analysis.findings.saved.failed_backward`). If they do not, the
finding is at the line of the backward call and says so.
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

_ADVISED = frozenset(("modified", "twice", "no_double_grad", "pylayer", "python"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield each backward call that raised, at the line that made the failed grad node."""
    for failed in facts.answer(failed_backwards):
        yield _found(facts, failed)


def _found(facts: Facts, failed: FailedBackward) -> Found:
    node, is_modified = failed.grad_node, failed.cause == "modified"
    op = facts.op_of_node(node) if node >= 0 else -1
    call = facts.place_of_call(failed.call)
    place = facts.place(op) if op >= 0 else call
    key = "twice" if failed.earlier_call >= 0 else "found" if op >= 0 else "somewhere"
    modified = Text("findings.backward-failed.modified")
    return Found(
        place=place,
        op=op,
        grad_node=node,
        severity="error",
        message=Text(
            f"findings.backward-failed.{key}",
            call=call,
            place=place,
            name=facts.grad_node_name(node) if node >= 0 else "",
            why=modified if is_modified else reason(facts.backward_error(failed.call)),
            earlier=facts.place_of_call(failed.earlier_call),
        ),
        marks=[Mark("failed", op=op, grad_node=node)] if op >= 0 else [],
        advice=Text(f"findings.backward-failed.advice_{failed.cause}")
        if failed.cause in _ADVISED
        else None,
    )


CHECK = Check(
    kind="backward-failed",
    find=find,
    example="loss = net(x).sum()\nloss.backward()\nloss.backward()  # its graph is gone",
    consequence_of=("inplace-modified", "pylayer-argument", "graph-kept"),
)
