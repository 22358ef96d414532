"""Which op the grad nodes belong to that ``paddle.grad(create_graph=True)`` makes in C++.

Running the ``TanhGradNode`` of op *k* with ``create_graph`` makes a ``TanhDoubleGradNode``: it
belongs to *k* as well, and is known by its name and by handing gradients to *k*'s own node
(through the output it saved) or to where that one does (through inputs). Whatever else such a call
makes (sums where gradients meet, the parts of a composed formula) belongs to the call. Post hooks
would tell more, but in Paddle 3.3 one on a ``ConcatGradNode`` or ``StackGradNode`` makes the
backward pass fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from paddle_lab.capture.backward_graph.grad_nodes import LEAF_NAME, Reached, nodes_behind
from paddle_lab.capture.door import DOOR

_ORDERS = {"DoubleGradNode": "GradNode", "TripleGradNode": "DoubleGradNode"}
_HIGHER = re.compile(r"^(\w+?)(DoubleGradNode|TripleGradNode)")

_Known = tuple[int, set[int], int]
"""Of a grad node: its address, where it hands gradients to, and its op."""


def attribute_made_nodes(roots: Iterable[Any], before: Reached, call_op: int) -> Reached:
    """Find the grad nodes that a call made, and their ops.

    Parameters
    ----------
    roots
        Grad nodes of what the call returned.
    before
        The nodes there were before it: of the graph it ran through, and of its ``grad_outputs``.
    call_op
        The op of the call itself.

    Returns
    -------
    dict
        The nodes made; those with no op of their own have the call's, leaves have -1.
    """
    by_name: dict[str, list[_Known]] = {}
    for address, (node, op) in before.items():
        by_name.setdefault(node.name(), []).append((address, _targets(node), op))
    made: Reached = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        address = DOOR.node_address(node)
        if address in before or address in made:
            continue
        made[address] = (node, _op_behind(node, by_name, call_op))
        pending.extend(nodes_behind(node))
    return made


def _op_behind(node: Any, by_name: dict[str, list[_Known]], call_op: int) -> int:
    name = node.name()
    if name == LEAF_NAME:
        return -1
    match = _HIGHER.match(name)
    candidates = by_name.get(f"{match[1]}{_ORDERS[match[2]]}", []) if match else []
    targets = _targets(node)
    for likely in (
        {op for address, _, op in candidates if address in targets},
        {op for _, known, op in candidates if known & targets},
        {op for _, _, op in candidates},
    ):
        if len(likely) == 1:
            return likely.pop()
    return call_op


def _targets(node: Any) -> set[int]:
    return {DOOR.node_address(following) for following in nodes_behind(node)}
