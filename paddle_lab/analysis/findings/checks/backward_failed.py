"""Backward raised: find the line whose op made the grad node that raised.

The traceback of a failing backward ends at ``loss.backward()``. The grad node that raised was made
by an op of the forward, perhaps in another file. The text of the exception and the graph identify
this grad node (:mod:`paddle_lab.analysis.findings.saved.failed_backward`). If they do not, the
finding is at the line of the backward call and says so.

One cause has a check of its own: a tensor that was saved for backward was modified in place. A grad
node keeps the tensors that its formula needs. Paddle counts the changes of each storage, and raises
if the count has changed since the node saved the tensor: after ``x[0] = 1``, ``x.add_(y)`` or
``paddle.assign(y, output=x)``, also on a slice, a reshape or a detached copy of the tensor, also
under ``no_grad``. Paddle's error does not name the line of the change.

Two kinds of change do not raise the count, so backward silently uses wrong values: ``set_value``
and similar methods, and an optimizer step between forward and backward, which changes weights that
the graph has saved.

No alarm: a change before the tensor is saved or after backward has run, or a change of a tensor of
which the node needs only the shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, found
from paddle_lab.analysis.findings.saved.failed_backward import (
    FailedBackward,
    failed_backwards,
    reason,
)
from paddle_lab.analysis.findings.saved.silent_changes import Write, silent_changes
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
    is_advised = failed.cause in _ADVISED
    return found(
        f"backward-failed.{key}",
        place,
        op,
        grad_node=node,
        severity="error",
        marks=[Mark("failed", op, node)] if op >= 0 else [],
        advice=Text(f"findings.backward-failed.advice_{failed.cause}") if is_advised else None,
        call=call,
        name=facts.grad_node_name(node) if node >= 0 else "",
        why=modified if is_modified else reason(facts.backward_error(failed.call)),
        earlier=facts.place_of_call(failed.earlier_call),
    )


BACKWARD_FAILED = Check(
    find=find,
    example="loss = net(x).sum()\nloss.backward()\nloss.backward()  # its graph is gone",
    consequence_of=("inplace-modified", "pylayer-argument", "graph-kept"),
)


def find_changes(facts: Facts) -> Iterator[Found]:
    """Yield the lines that modified tensors which a grad node had saved."""
    for failed in facts.answer(failed_backwards):
        if failed.cause == "modified" and failed.changes:
            yield _raised(facts, failed)
    for write, node in silent_changes(facts):
        yield _silent(facts, write, node)


def _raised(facts: Facts, failed: FailedBackward) -> Found:
    change, op = failed.changes[0], facts.op_of_node(failed.grad_node)
    place, saver = facts.place(change), facts.place(op)
    marks = [Mark("origin", change), Mark("failed", op, failed.grad_node)]
    marks += [Mark("related", other) for other in failed.changes[1:]]
    key, node = "inplace-modified.raised", failed.grad_node
    return found(key, place, change, grad_node=node, severity="error", marks=marks, saver=saver)


def _silent(facts: Facts, write: Write, node: int) -> Found:
    saver = facts.op_of_node(node)
    key = "silent_step" if write.op >= 0 else "silent"
    return found(
        f"inplace-modified.{key}",
        write.place,
        write.op if write.op >= 0 else saver,
        grad_node=node,
        marks=[Mark("origin", write.op), Mark("related", saver, node)],
        advice=Text("findings.inplace-modified.silent_advice"),
        saver=facts.place(saver),
    )


INPLACE_MODIFIED = Check(
    kind="inplace-modified",
    find=find_changes,
    example="y = h**2\nh[1:2] = 3.3  # y's backward needs h as it was\ny.sum().backward()",
)
