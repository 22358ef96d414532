"""Finds the ops of the grad nodes that ``paddle.grad(create_graph=True)`` makes in C++.

If the ``TanhGradNode`` of op *k* runs with ``create_graph``, C++ makes a ``TanhDoubleGradNode``,
which belongs to *k* too. It is recognized by its name and by its next nodes: *k*'s own node
(through the output that this node saved), or the same nodes as those of *k*'s own node (through
inputs). All other nodes that the call makes (sums of gradients, parts of a composed formula) belong
to the call. Post hooks could tell more, but in Paddle 3.3 a post hook on a ``ConcatGradNode`` or a
``StackGradNode`` makes the backward pass fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from paddle_lab.capture.backward_graph.grad_nodes import Reached, nodes_behind
from paddle_lab.capture.door import DOOR
from paddle_lab.trace.grad_node_order import LEAF_NAME

_ORDERS = {"DoubleGradNode": "GradNode", "TripleGradNode": "DoubleGradNode"}
_HIGHER = re.compile(r"^(\w+?)(DoubleGradNode|TripleGradNode)")

_Known = tuple[int, set[int], int]
"""A grad node: its address, the addresses of its next nodes, and its op."""


def attribute_made_nodes(roots: Iterable[Any], before: Reached, call_op: int) -> Reached:
    """Find the grad nodes that a call of ``paddle.grad`` made, and the op of each.

    Parameters
    ----------
    roots
        Grad nodes of the tensors that the call returned.
    before
        The nodes that existed before the call: the call's graph, and the graph of its
        ``grad_outputs``.
    call_op
        The op of the call itself.

    Returns
    -------
    dict
        The nodes that the call made. A node with no op of its own has the call's op, a leaf has -1.
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
