"""A tensor that was saved for backward was modified in place.

A grad node keeps the tensors that its formula needs. Paddle counts the changes of each storage, and
raises when a node finds another count than it saved: after ``x[0] = 1``, ``x.add_(y)`` or
``paddle.assign(y, output=x)``, also on a slice, a reshape or a detach of the tensor, also under
``no_grad``. It says that it happened, not where.

Two ways leave the count as it was, and the gradient is computed from the wrong values without a
word: ``set_value`` and its kin, and a step of an optimizer between forward and backward, which
writes to the weights that the graph has saved.

No alarm: a change before the tensor is saved, after backward has run, or of a tensor that only the
node's shapes need.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.failed_backward import FailedBackward, failed_backwards
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.silent_changes import SilentChange, silent_changes
from paddle_lab.analysis.findings.text import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that modified what a grad node had saved."""
    for failed in failed_backwards(facts):
        if failed.cause == "modified" and failed.changes:
            yield _raised(facts, failed)
    for change in silent_changes(facts):
        yield _silent(facts, change)


def _raised(facts: Facts, failed: FailedBackward) -> Found:
    change, op = failed.changes[0], facts.op_of_node(failed.grad_node)
    place, saver = facts.place(change), facts.place(op)
    return Found(
        place=place,
        op=change,
        grad_node=failed.grad_node,
        severity="error",
        message=Text(
            en=f"{place.said()} modified in place a tensor that {saver.said()} saved for its "
            "backward.",
            zh=f"{place.said('zh')} 原地修改了 {saver.said('zh')} 为反向计算保存的张量。",
        ),
        marks=[
            Mark("origin", op=change),
            Mark("failed", op=op, grad_node=failed.grad_node),
            *(Mark("related", op=other) for other in failed.changes[1:]),
        ],
    )


def _silent(facts: Facts, change: SilentChange) -> Found:
    place, saver = change.place, facts.place(change.saver)
    what = "the optimizer's step updated" if change.op >= 0 else "modified"
    what_zh = "优化器更新" if change.op >= 0 else "修改"
    return Found(
        place=place,
        op=change.op if change.op >= 0 else change.saver,
        grad_node=change.grad_node,
        severity="warning",
        message=Text(
            en=f"In {place.said()} {what} a tensor that {saver.said()} saved for its backward; "
            "Paddle does not notice, and the gradient is computed from the new values.",
            zh=f"{place.said('zh')} {what_zh}了 {saver.said('zh')} 为反向计算保存的张量;"
            "Paddle 不会察觉,梯度是用新值算出来的。",
        ),
        marks=[
            Mark("origin", op=change.op),
            Mark("related", op=change.saver, grad_node=change.grad_node),
        ],
        advice=Text(
            en="Run backward before anything writes to the tensor: all backward calls first, then "
            "the optimizer's steps, and new values only for the next forward.",
            zh="在任何写操作之前完成反向:先执行所有 backward,再执行优化器的 step;"
            "新的值留给下一次前向。",
        ),
    )


CHECK = Check(
    kind="inplace-modified",
    title=Text(
        en="A tensor saved for backward is modified in place",
        zh="为反向保存的张量被原地修改",
    ),
    advice=Text(
        en="Make a new tensor instead (`h = h + 1` for `h.add_(1)`, `paddle.where` or "
        "`paddle.scatter` for an assignment to a slice), or modify a copy: `h = h.clone()` before "
        "the change.",
        zh="改为生成新的张量(用 `h = h + 1` 代替 `h.add_(1)`,用 `paddle.where` 或 `paddle.scatter` "
        "代替切片赋值),或者先复制再修改:在修改之前执行 `h = h.clone()`。",
    ),
    find=find,
    example="y = h**2\nh[1:2] = 3.3  # y's backward needs h as it was\ny.sum().backward()",
    cost="nothing: it reads the in-place versions that every trace has",
)
