"""Which grad node raised in a failed backward call, and why, from the exception and the graph.

Paddle writes the node's name only to stderr. The exception has less: the address of a PyLayer's
node, the name of a node that has run before, or the versions of a modified tensor. The exception
has the node's name only if ``FLAGS_call_stack_level`` is 2 or more. If several nodes fit, the one
that Paddle runs first is taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.saved.saved_tensors import Storages, saved_tensors
from paddle_lab.trace.grad_node_order import GradNodeOrder

Cause = Literal["modified", "twice", "no_double_grad", "pylayer", "python", "unknown"]

_PYLAYER_NAME = re.compile(r"(GradNodePyLayer_\w+?)(?: :|'s backward function|\(0x)")
_VERSIONS = re.compile(r"Its version is (\d+) but the expected version is (\d+)")
_RUN_BEFORE = re.compile(r"The TensorWrappers of (\w+) do not exist")
_NO_DOUBLE_GRAD = re.compile(r"The Op (\w+) doesn't have any grad op")
_NAMED = (
    re.compile(r"\[GradNode < (\w+) > error\]"),
    re.compile(r"^\d+\s+(?:\w+::)*(\w*GradNode\w*)::operator\(\)", re.MULTILINE),
)
_PYTHON = re.compile(r"^\(External\)|^OSError: \(External\)|\nAt:\n", re.MULTILINE)


@dataclass(frozen=True)
class FailedBackward:
    """A backward call of the user that raised."""

    call: int
    """The row in ``backward_calls``."""
    cause: Cause
    grad_node: int = -1
    """The grad node that raised, -1 if unknown."""
    changes: tuple[int, ...] = ()
    """The ops that modified a tensor saved by the node, in order."""
    earlier_call: int = -1
    """The backward call that freed the node's saved tensors."""


def failed_backwards(facts: Facts) -> list[FailedBackward]:
    """Return what is known about each backward call that raised. Interrupts are not included."""
    errors = [(call, facts.backward_error(call)) for call in facts.user_backward_calls]
    stopped = ("KeyboardInterrupt", "SystemExit")
    return [_explained(facts, *one) for one in errors if one[1] and not one[1].startswith(stopped)]


def reason(error: str) -> str:
    """Return the sentence in an exception's text that names the problem."""
    text = error.rpartition("Error Message Summary:")[2] if "Summary:" in error else error
    kind, _, rest = text.partition(": ")
    lines = [line.strip() for line in rest.splitlines()] if rest else [text]
    lines = [line for line in lines if line and not set(line) <= set("{}-= ")]
    lines = [line for line in lines if "= Error message in" not in line and line != "(External)"]
    said = re.sub(r"^\(\w+\) ", "", lines[0]) if lines else kind
    said = said.partition(" (at /paddle")[0]
    return f"{said[:240]}…" if len(said) > 240 else said


def _explained(facts: Facts, call: int, error: str) -> FailedBackward:
    order = facts.answer(_order).replay(facts.roots(call))

    def named(name: str) -> list[int]:
        return [node for node in order if facts.grad_node_name(node) == name]

    if match := _VERSIONS.search(error):
        return _modified(facts, call, order, int(match[1]), int(match[2]))
    if match := _RUN_BEFORE.search(error):
        return _run_twice(facts, call, named(match[1]))
    if match := _NO_DOUBLE_GRAD.search(error):
        name = "".join(part.capitalize() for part in match[1].removesuffix("_grad").split("_"))
        return FailedBackward(call, "no_double_grad", _first(named(f"{name}GradNode")))
    if match := _PYLAYER_NAME.search(error):
        return FailedBackward(call, "pylayer", _last_run(facts, call, named(match[1])))
    cause: Cause = "python" if _PYTHON.search(error) else "unknown"
    for pattern in _NAMED:
        if match := pattern.search(error):
            return FailedBackward(call, cause, _first(named(match[1])))
    return FailedBackward(call, cause)


def _first(nodes: list[int]) -> int:
    return nodes[0] if nodes else -1


def _order(facts: Facts) -> GradNodeOrder:
    names, edges = facts.record.grad_nodes["name"], facts.record.grad_edges
    return GradNodeOrder(
        [facts.record.text(name) for name in names.tolist()], edges["source"], edges["target"]
    )


def _modified(
    facts: Facts, call: int, order: list[int], version: int, expected: int
) -> FailedBackward:
    storages, before = facts.answer(Storages), facts.ops_before(call)
    made_by_ops = [(node, op) for node in order if (op := facts.op_of_node(node)) >= 0]
    known = ((node, op, saved_tensors(facts, op)) for node, op in made_by_ops)
    # A tensor that may have been saved counts only if no tensor known to be saved explains the
    # error.
    possible = ((node, op, facts.inputs(op) + facts.outputs(op)) for node, op in made_by_ops)
    for node, op, tensors in (*known, *possible):
        for tensor in tensors:
            if facts.version(tensor) == expected:
                changes = [
                    (change, made)
                    for change, made in storages.changes(tensor)
                    if op < change < before and expected < made <= version
                ]
                if changes and changes[-1][1] == version:
                    ops = tuple(change for change, _ in changes)
                    return FailedBackward(call, "modified", node, ops)
    return FailedBackward(call, "modified")


def _run_twice(facts: Facts, call: int, nodes: list[int]) -> FailedBackward:
    earlier = [one for one in facts.user_backward_calls if one < call]
    freed_by = [one for one in reversed(earlier) if not facts.backward_error(one)]
    for node in nodes:
        for other in freed_by:
            if node in facts.nodes_of_call(other):
                return FailedBackward(call, "twice", node, earlier_call=other)
    return FailedBackward(call, "twice", _first(nodes))


def _last_run(facts: Facts, call: int, nodes: list[int]) -> int:
    """Return the node of the PyLayer whose backward ran last, because it raised the error."""
    parents, ops = (facts.record.scopes[name].tolist() for name in ("parent", "op"))
    calls = facts.record.scopes["backward_call"]
    inside = zip(ops, parents, strict=True)
    ran = [op for op, around in inside if op >= 0 and around >= 0 and int(calls[around]) == call]
    of_op = {facts.op_of_node(node): node for node in reversed(nodes)}
    return next((of_op[op] for op in reversed(ran) if op in of_op), _first(nodes))
