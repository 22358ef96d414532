"""A PyLayer was called, or returned, against its rules.

Paddle tracks the tensors that are arguments of ``apply``, or stand in one list or tuple there. What
lies deeper, or in a dict or an object, reaches ``forward`` and gets no gradient; a list whose first
tensor needs no gradient counts as one that needs none. Outputs are tracked by the same rule.
``backward`` returns one gradient for each tracked tensor, in order: ``None`` where none is needed,
a list for a list. A wrong number raises; a wrong shape, or ``None`` for a tensor that needs its
gradient, is taken as it is. The latter can be meant, and is said as information.

No alarm: calls under ``no_grad``, hidden tensors that need no gradient, and Paddle's own PyLayers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.failed_backward import failed_backwards, reason
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.text import Text

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_SEVERITIES: dict[str, Severity] = {"refused": "error", "missing-gradient": "info"}
_AGAINST_RULES = re.compile(
    r"py_layer_node\.cc|must implement the backward function|"
    r"backward\S*\(\) (?:takes|missing)|<lambda>\(\) (?:takes|missing)"
)


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of PyLayers that broke a rule."""
    events = facts.record.events
    seen: set[tuple[str, str]] = set()
    for event in facts.events("pylayer_rule"):
        scope = int(events["scope"][event])
        op = int(facts.record.scopes["op"][scope]) if scope >= 0 else -1
        if op < 0:
            continue
        rule, position, more = _parts(facts.record.text(int(events["detail"][event])))
        place = facts.place(op).said()
        if (place, rule) not in seen:
            seen.add((place, rule))
            severity = _SEVERITIES.get(rule, "warning")
            yield _found(facts, op, _message(facts, op, rule, position, more), severity)
    for failed in failed_backwards(facts):
        error = facts.backward_error(failed.call)
        is_rule = "Error message in backward of" not in error or "py_layer.py" in _raised_in(error)
        if failed.cause == "pylayer" and failed.grad_node >= 0 and is_rule:
            op = facts.op_of_node(failed.grad_node)
            if op >= 0 and _AGAINST_RULES.search(error):
                yield _found(facts, op, _refused(facts, op, reason(error)), "error")


def _raised_in(error: str) -> str:
    """Return the innermost Python line that an exception's text names."""
    lines = error.partition("At:\n")[2].splitlines()
    return lines[0] if lines else ""


def _parts(detail: str) -> tuple[str, int, str]:
    rule, position, *more = detail.split(" ", 2)
    return rule, int(position), more[0] if more else ""


def _found(facts: Facts, op: int, message: Text, severity: Severity) -> Found:
    nodes = facts.grad_nodes(op)
    node = nodes[0] if nodes else -1
    return Found(
        place=facts.place(op),
        op=op,
        grad_node=node,
        severity=severity,
        message=message,
        marks=[Mark("failed" if severity == "error" else "origin", op=op, grad_node=node)],
    )


def _refused(facts: Facts, op: int, said: str) -> Text:
    place = facts.place(op)
    if said.startswith("Leaf Var"):
        return Text(
            en=f"{facts.op_name(op)}.forward, called by {place.said()}, returns one of its inputs, "
            "or shares its memory, and that input is a leaf which needs a gradient.",
            zh=f"{place.said('zh')} 调用的 {facts.op_name(op)}.forward 返回了它的某个输入"
            "(或与之共享内存),而这个输入是需要梯度的叶子张量。",
        )
    said = re.sub(r"^GradNodePyLayer_\w+ : ", "", said)
    return Text(
        en=f"{place.said()} breaks a rule of {facts.op_name(op)}: {said}",
        zh=f"{place.said('zh')} 违反了 {facts.op_name(op)} 的规则:{said}",
    )


def _message(facts: Facts, op: int, rule: str, position: int, more: str) -> Text:
    if rule == "refused":
        return _refused(facts, op, reason(more))
    place, name = facts.place(op), facts.op_name(op)
    which = _ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th"
    here, here_zh = place.said(), f"{place.said('zh')} "
    nth_zh = f"第 {position + 1} 个"
    texts = {
        "nested-argument": Text(
            en=f"The {which} argument of {here} holds tensors inside of nested lists: {name} does "
            "not track them, and they get no gradient.",
            zh=f"{here_zh}的{nth_zh}参数在嵌套列表里含有张量:{name} 不会追踪它们,它们得不到梯度。",
        ),
        "held-argument": Text(
            en=f"The {which} argument of {here} holds tensors in a {more}: {name} does not track "
            "them, and they get no gradient.",
            zh=f"{here_zh}的{nth_zh}参数是含有张量的 {more}:{name} 不会追踪它们,它们得不到梯度。",
        ),
        "list-begins-without-gradient": Text(
            en=f"The {which} argument of {here} is a list whose first tensor needs no gradient: "
            f"{name} takes the whole list for one that needs none.",
            zh=f"{here_zh}的{nth_zh}参数是一个列表,其首个张量不需要梯度:"
            f"{name} 会认为整个列表都不需要梯度。",
        ),
        "hidden-output": Text(
            en=f"{name}.forward, called by {here}, returns tensors in a {more}: they are not "
            "tracked, and no gradient comes back through them.",
            zh=f"{here_zh}调用的 {name}.forward 返回了放在 {more} 里的张量:"
            "它们不会被追踪,梯度无法经由它们回传。",
        ),
        "missing-gradient": Text(
            en=f"{name}.backward returns None for the {which} tensor of {here}, which needs a "
            "gradient.",
            zh=f"{name}.backward 为{here_zh}的{nth_zh}张量返回了 None,而它需要梯度。",
        ),
        "wrong-shape": Text(
            en=f"{name}.backward returns a gradient of shape {more} for the {which} tensor of "
            f"{here}; Paddle does not compare them.",
            zh=f"{name}.backward 为{here_zh}的{nth_zh}张量返回的梯度形状不符({more});"
            "Paddle 不会检查。",
        ),
    }
    return texts[rule]


CHECK = Check(
    kind="pylayer-argument",
    title=Text(
        en="A PyLayer's rules of arguments and results are broken",
        zh="违反了 PyLayer 的参数或返回值规则",
    ),
    advice=Text(
        en="Give tensors to `apply` one by one or in one flat list, and let `forward` return them "
        "so. Let `backward` return one gradient of the same shape for each of them, in order, a "
        "list for a list, and None only for tensors that need none.",
        zh="把张量逐个传给 `apply`,或放在一个不嵌套的列表里,`forward` 的返回值也是如此。"
        "`backward` 要按顺序为每个张量返回一个形状相同的梯度(列表对应列表),"
        "只有不需要梯度的张量才返回 None。",
    ),
    find=find,
    example="out = Scale.apply({'x': x, 'factor': factor})  # neither gets a gradient",
    cost="a look at the arguments and results of PyLayers",
)
