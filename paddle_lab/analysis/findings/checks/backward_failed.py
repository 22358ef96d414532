"""Backward raised: the line whose op made the grad node that did.

The traceback of a failing backward ends at ``loss.backward()``. The grad node that raised was made
by an op of the forward, lines or files away. It is found by what the exception says and by the
graph (:mod:`paddle_lab.analysis.findings.failed_backward`). Where neither tells, the finding is
at the line of the backward call and says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.failed_backward import FailedBackward, failed_backwards, reason
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.text import Text

_ADVICE = {
    "modified": Text(
        en="The finding about the modified tensor names the line that modified it.",
        zh="关于被修改张量的那条结果指出了修改它的那一行。",
    ),
    "twice": Text(
        en="A backward call frees its graph. Add the losses and call backward once, or pass "
        "`retain_graph=True` to the first call. If the graph came along from an earlier step, "
        "`detach()` what is carried over.",
        zh="backward 执行后会释放它的图。可以把各个损失相加后只调用一次 backward,"
        "或在第一次调用时传入 `retain_graph=True`。"
        "如果这张图是从上一步带过来的,请对带过来的张量调用 `detach()`。",
    ),
    "no_double_grad": Text(
        en="The op has no second derivative. Leave `create_graph` out if none is needed, or write "
        "the line with ops that have one.",
        zh="该算子没有二阶导数。如果不需要高阶导数,请去掉 `create_graph`;"
        "否则请用支持二阶导数的算子改写。",
    ),
    "pylayer": Text(
        en="The exception comes from the `backward` of this PyLayer: it names the line there.",
        zh="异常来自这个 PyLayer 的 `backward`:异常信息中给出了出错的行。",
    ),
    "python": Text(
        en="The exception comes from Python code that backward runs, a hook perhaps: the lines "
        "after `At:` in its text say where.",
        zh="异常来自反向过程中执行的 Python 代码(例如 hook):"
        "异常文本中 `At:` 之后的各行给出了位置。",
    ),
}


def find(facts: Facts) -> Iterator[Found]:
    """Yield each backward call that raised, at the line that made the grad node in question."""
    for failed in failed_backwards(facts):
        yield _found(facts, failed)


def _found(facts: Facts, failed: FailedBackward) -> Found:
    op = facts.op_of_node(failed.grad_node) if failed.grad_node >= 0 else -1
    said = _reason(facts, failed)
    call = facts.place_of_call(failed.call)
    if op >= 0:
        place = facts.place(op)
        name = facts.grad_node_name(failed.grad_node)
        message = Text(
            en=f"Backward ({call.said()}) failed in the {name} that {place.said()} made: {said.en}",
            zh=f"反向({call.said('zh')})在 {place.said('zh')} 产生的 {name} 中失败:{said.zh}",
        )
    else:
        place = call
        message = Text(
            en=f"{call.said()} failed, Paddle does not say in which grad node: {said.en}",
            zh=f"{call.said('zh')} 失败,Paddle 没有说明是哪个反向节点:{said.zh}",
        )
    if failed.earlier_call >= 0:
        earlier = facts.place_of_call(failed.earlier_call)
        message = Text(
            en=f"Backward ({call.said()}) ran through the graph that {place.said()} belongs to "
            f"after {earlier.said()} had freed it.",
            zh=f"反向({call.said('zh')})再次经过了 {place.said('zh')} 所在的图,"
            f"而 {earlier.said('zh')} 已经释放了它。",
        )
    return Found(
        place=place,
        op=op,
        grad_node=failed.grad_node,
        severity="error",
        message=message,
        marks=[Mark("failed", op=op, grad_node=failed.grad_node)] if op >= 0 else [],
        advice=_ADVICE.get(failed.cause),
    )


def _reason(facts: Facts, failed: FailedBackward) -> Text:
    if failed.cause == "modified":
        return Text(
            en="a tensor that it had saved was modified in place.",
            zh="它保存的张量被原地修改了。",
        )
    said = reason(facts.backward_error(failed.call))
    return Text(en=said, zh=said)


CHECK = Check(
    kind="backward-failed",
    title=Text(en="Which line made the grad node that failed", zh="失败的反向节点由哪一行产生"),
    advice=Text(
        en="Look at the shapes and values that this line's op was given; its grad node has the "
        "same.",
        zh="检查这一行算子的输入的形状和数值;它的反向节点用的是同样的张量。",
    ),
    find=find,
    example="loss = net(x).sum()\nloss.backward()\nloss.backward()  # its graph is gone",
    cost="nothing: it reads the graph that every trace has",
    consequence_of=("inplace-modified", "pylayer-argument", "graph-kept"),
)
