"""Which grad node a failing backward call raised in, and why, by its exception and the graph.

Paddle logs the node's name to stderr, where no program reads it. The exception says less: the
address of a PyLayer's node, the name of a node that has run before, the versions of a tensor that
was modified; with ``FLAGS_call_stack_level`` at 2 or more also the name. The nodes it can mean are
told apart by the order in which Paddle runs them: the first that fits is the one that raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.saved.run_order import run_order
from paddle_lab.analysis.findings.saved.saved_tensors import saved_tensors, touched_tensors
from paddle_lab.analysis.findings.saved.storages import Storages

Cause = Literal["modified", "twice", "no_double_grad", "pylayer", "python", "unknown"]

_ADDRESS = re.compile(r"(GradNodePyLayer_\w+)\((0x[0-9a-f]+)\)")
_PYLAYER_NAME = re.compile(r"(GradNodePyLayer_\w+?)(?: :|'s backward function)")
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
    """A backward call of the user's that raised."""

    call: int
    """Row in ``backward_calls``."""
    cause: Cause
    grad_node: int = -1
    """The grad node that raised, -1 where nothing tells."""
    saved: int = -1
    """The value of a tensor that the node had saved and that was modified since."""
    changes: tuple[int, ...] = ()
    """The ops that modified it, in order."""
    earlier_call: int = -1
    """The backward call that had freed what the node needs."""


def failed_backwards(facts: Facts) -> Iterator[FailedBackward]:
    """Yield what is known of each backward call that raised an exception of its own."""
    storages = Storages(facts)
    for call in facts.user_backward_calls:
        error = facts.backward_error(call)
        if error and not error.startswith(("KeyboardInterrupt", "SystemExit")):
            yield _explained(facts, storages, call, error)


def reason(error: str) -> str:
    """Return the sentence of an exception's text that says what is wrong."""
    text = error.rpartition("Error Message Summary:")[2] if "Summary:" in error else error
    kind, _, rest = text.partition(": ")
    lines = [line.strip() for line in rest.splitlines()] if rest else [text]
    lines = [line for line in lines if line and not set(line) <= set("{}-= ")]
    lines = [line for line in lines if "= Error message in" not in line and line != "(External)"]
    said = re.sub(r"^\(\w+\) ", "", lines[0]) if lines else kind
    said = said.partition(" (at /paddle")[0]
    return f"{said[:240]}…" if len(said) > 240 else said


def _explained(facts: Facts, storages: Storages, call: int, error: str) -> FailedBackward:
    order = run_order(facts, call)

    def first(fits: Callable[[int], bool]) -> int:
        return next((node for node in order if fits(node)), -1)

    def named(name: str) -> int:
        return first(lambda node: facts.grad_node_name(node) == name)

    if match := _ADDRESS.search(error):
        name, address = match[1], int(match[2], 16)
        at = facts.record.grad_nodes["address"]
        node = first(lambda node: int(at[node]) == address and facts.grad_node_name(node) == name)
        return FailedBackward(call, "pylayer", node if node >= 0 else named(name))
    if match := _VERSIONS.search(error):
        return _modified(facts, storages, call, order, int(match[1]), int(match[2]))
    if match := _RUN_BEFORE.search(error):
        return _run_twice(facts, call, order, match[1])
    if match := _NO_DOUBLE_GRAD.search(error):
        name = "".join(part.capitalize() for part in match[1].removesuffix("_grad").split("_"))
        return FailedBackward(call, "no_double_grad", named(f"{name}GradNode"))
    if match := _PYLAYER_NAME.search(error):
        return FailedBackward(call, "pylayer", _last_pylayer_node(facts, call, order, match[1]))
    cause: Cause = "python" if _PYTHON.search(error) else "unknown"
    for pattern in _NAMED:
        if match := pattern.search(error):
            return FailedBackward(call, cause, named(match[1]))
    return FailedBackward(call, cause)


def _modified(
    facts: Facts, storages: Storages, call: int, order: list[int], version: int, expected: int
) -> FailedBackward:
    versions = facts.record.tensors["version"]
    before = facts.ops_before(call)
    # A tensor that may have been saved counts only if no tensor known to be saved explains the
    # error.
    for kept in (saved_tensors, touched_tensors):
        for node in order:
            op = facts.op_of_node(node)
            for tensor in kept(facts, op) if op >= 0 else ():
                if int(versions[tensor]) != expected:
                    continue
                changes = [
                    change
                    for change in storages.changes(tensor)
                    if op < change < before and _version_made(facts, storages, tensor, change)
                    in range(expected + 1, version + 1)
                ]  # fmt: skip
                if not changes:
                    continue
                last = _version_made(facts, storages, tensor, changes[-1])
                if last == version:
                    return FailedBackward(call, "modified", node, tensor, tuple(changes))
    return FailedBackward(call, "modified")


def _version_made(facts: Facts, storages: Storages, tensor: int, op: int) -> int:
    versions, members = facts.record.tensors["version"], storages.members(tensor)
    return max(int(versions[row]) for row in members if facts.producer(row) == op)


def _run_twice(facts: Facts, call: int, order: list[int], name: str) -> FailedBackward:
    earlier = [other for other in facts.user_backward_calls if other < call]
    for node in order:
        if facts.grad_node_name(node) != name:
            continue
        for other in reversed(earlier):
            if not facts.backward_error(other) and node in set(facts.nodes_of_call(other)):
                return FailedBackward(call, "twice", node, earlier_call=other)
    node = next((node for node in order if facts.grad_node_name(node) == name), -1)
    return FailedBackward(call, "twice", node)


def _last_pylayer_node(facts: Facts, call: int, order: list[int], name: str) -> int:
    """Return the node of the PyLayer whose backward ran last: Paddle complains of that one."""
    scopes = facts.record.scopes
    ran = [
        scope
        for scope, (around, made) in enumerate(
            zip(scopes["parent"].tolist(), scopes["op"].tolist(), strict=True)
        )
        if made >= 0 and around >= 0 and int(scopes["backward_call"][around]) == call
    ]
    candidates = [node for node in order if facts.grad_node_name(node) == name]
    for scope in reversed(ran):
        for node in candidates:
            if facts.op_of_node(node) == int(scopes["op"][scope]):
                return node
    return candidates[0] if candidates else -1
