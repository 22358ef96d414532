"""A tensor that was saved for backward was modified in place.

A grad node keeps the tensors that its formula needs. Paddle counts the changes of each storage, and
raises if the count has changed since the node saved the tensor: after ``x[0] = 1``, ``x.add_(y)``
or ``paddle.assign(y, output=x)``, also on a slice, a reshape or a detached copy of the tensor, also
under ``no_grad``. Paddle's error does not name the line of the change.

Two kinds of change do not raise the count, so backward silently uses wrong values: ``set_value``
and similar methods, and an optimizer step between forward and backward, which changes weights that
the graph has saved.

No alarm: a change before the tensor is saved or after backward has run, or a change of a tensor of
which the node needs only the shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.saved.failed_backward import FailedBackward, failed_backwards
from paddle_lab.analysis.findings.saved.silent_changes import Write, silent_changes
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that modified what a grad node had saved."""
    for failed in facts.answer(failed_backwards):
        if failed.cause == "modified" and failed.changes:
            yield _raised(facts, failed)
    for write, node in silent_changes(facts):
        yield _silent(facts, write, node)


def _raised(facts: Facts, failed: FailedBackward) -> Found:
    change, op = failed.changes[0], facts.op_of_node(failed.grad_node)
    place, saver = facts.place(change), facts.place(op)
    return Found(
        place=place,
        op=change,
        grad_node=failed.grad_node,
        severity="error",
        message=Text("findings.inplace-modified.raised", place=place, saver=saver),
        marks=[
            Mark("origin", op=change),
            Mark("failed", op=op, grad_node=failed.grad_node),
            *(Mark("related", op=other) for other in failed.changes[1:]),
        ],
    )


def _silent(facts: Facts, write: Write, node: int) -> Found:
    saver = facts.op_of_node(node)
    key = "silent_step" if write.op >= 0 else "silent"
    return Found(
        place=write.place,
        op=write.op if write.op >= 0 else saver,
        grad_node=node,
        severity="warning",
        message=Text(
            f"findings.inplace-modified.{key}", place=write.place, saver=facts.place(saver)
        ),
        marks=[Mark("origin", op=write.op), Mark("related", op=saver, grad_node=node)],
        advice=Text("findings.inplace-modified.silent_advice"),
    )


CHECK = Check(
    kind="inplace-modified",
    find=find,
    example="y = h**2\nh[1:2] = 3.3  # y's backward needs h as it was\ny.sum().backward()",
)
