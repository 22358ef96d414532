"""The backward graph: a walk over ``next_functions`` from the tensors at which a pass starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddle import Tensor


@dataclass
class GradWalk:
    """Nodes and edges reachable from some tensors.

    ``kept`` holds the node objects: Paddle gives a freed node's address to the next one.
    """

    nodes: dict[int, str] = field(default_factory=dict)
    """Address to name."""
    edges: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of addresses, one for each way in which one node feeds the other."""
    kept: list[Any] = field(default_factory=list)


def walk_backward(tensors: Iterable[Tensor]) -> GradWalk:
    """Return everything reachable from the ``grad_fn`` of ``tensors``."""
    walk = GradWalk()
    pending = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    while pending:
        node = pending.pop()
        address = node.node_ptr()
        if address in walk.nodes:
            continue
        walk.nodes[address] = node.name()
        walk.kept.append(node)
        for successor in node.next_functions:
            if successor is not None:  # None: an input that takes no gradient
                walk.edges.append((address, successor.node_ptr()))
                pending.append(successor)
    return walk
