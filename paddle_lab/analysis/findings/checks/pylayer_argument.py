"""A PyLayer got arguments, or returned gradients, that break its rules.

Paddle tracks a tensor if it is an argument of ``apply``, or an item of a list or tuple argument.
Deeper tensors, and tensors in a dict or an object, reach ``forward`` but get no gradient. A list
whose first tensor needs no gradient is not tracked. The same rule holds for outputs.
``backward`` returns one gradient per tracked tensor, in order: ``None`` if none is needed, a list
for a list. A wrong number raises. A wrong shape, or ``None`` for a tensor that needs its gradient,
does not raise. Such a ``None`` can be intended, so it is reported as information.
No alarm: calls under ``no_grad``, hidden tensors that need no gradient, and Paddle's own PyLayers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, Place, Severity
from paddle_lab.analysis.findings.saved.failed_backward import failed_backwards, reason
from paddle_lab.words import Text

_SEVERITIES: dict[str, Severity] = {"refused": "error", "missing-gradient": "info"}
_AGAINST_RULES = re.compile(
    r"py_layer_node\.cc|must implement the backward function|"
    r"backward\S*\(\) (?:takes|missing)|<lambda>\(\) (?:takes|missing)"
)

_FOR = " for "
"""The separator of two shapes in `capture/evidence/events/pylayer_rules.py`: given for wanted."""


def find(facts: Facts) -> Iterator[Found]:
    """Yield the calls of PyLayers that broke a rule."""
    seen: set[tuple[Place, str]] = set()
    for event in facts.events("pylayer_rule"):
        op = facts.pylayer_op(event.scope)
        if op < 0:
            continue
        rule, position, more = _parts(event.detail)
        place = facts.place(op)
        if (place, rule) not in seen:
            seen.add((place, rule))
            severity = _SEVERITIES.get(rule, "warning")
            yield _found(facts, op, _message(facts, op, rule, position, more), severity)
    for failed in facts.answer(failed_backwards):
        error = facts.backward_error(failed.call)
        is_rule = "Error message in backward of" not in error or "py_layer.py" in _raised_in(error)
        if failed.cause == "pylayer" and failed.grad_node >= 0 and is_rule:
            op = facts.op_of_node(failed.grad_node)
            if op >= 0 and _AGAINST_RULES.search(error):
                yield _found(facts, op, _refused(facts, op, reason(error)), "error")


def _raised_in(error: str) -> str:
    """Return the innermost Python line that an exception's text names."""
    return error.partition("At:\n")[2].partition("\n")[0]


def _parts(detail: str) -> tuple[str, int, str]:
    rule, position, *more = detail.split(" ", 2)
    return rule, int(position), more[0] if more else ""


def _found(facts: Facts, op: int, message: Text, severity: Severity) -> Found:
    node = next(iter(facts.grad_nodes(op)), -1)
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
        return Text("findings.pylayer-argument.leaf", place=place, name=facts.op_name(op))
    said = re.sub(r"^GradNodePyLayer_\w+ : ", "", said)
    return Text("findings.pylayer-argument.refused", place=place, name=facts.op_name(op), said=said)


def _message(facts: Facts, op: int, rule: str, position: int, more: str) -> Text:
    if rule == "refused":
        return _refused(facts, op, reason(more))
    place, name = facts.place(op), facts.op_name(op)
    key = f"findings.pylayer-argument.{rule}"
    shown: Text | str = more
    if rule == "wrong-shape":
        given, _, wanted = more.partition(_FOR)
        shown = Text("findings.pylayer-argument.shapes", given=given, wanted=wanted)
    return Text(key, place=place, name=name, n=position + 1, more=shown)


CHECK = Check(
    find=find,
    example="out = Scale.apply({'x': x, 'factor': factor})  # neither gets a gradient",
)
