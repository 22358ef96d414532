"""The walk over the parts of a backward graph that are not recorded yet."""

from __future__ import annotations

from typing import Any

from paddle_lab.capture.backward_graph.grad_nodes import (
    NO_OP,
    NO_TENSOR,
    GradNodePool,
    Reached,
)
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.native import native_twin
from paddle_lab.capture.rows.lineage import Upstream
from paddle_lab.trace.grad_node_order import LEAF_NAME

Link = tuple[int, int, int]
"""An edge: the slot in a grad node, the address of the next node, and the gradient's tensor."""


@native_twin
def walk_grad_nodes(
    pool: GradNodePool, roots: list[tuple[Any, int]], backward_call: int, *, returns_reached: bool
) -> Reached:
    """Record every node reachable from ``roots`` that is not recorded yet.

    Parameters
    ----------
    roots
        Grad nodes and the ops that made them.
    backward_call
        The backward call that starts at these roots.
    returns_reached
        Whether to return the nodes. Most callers need no object for each node.

    Returns
    -------
    dict
        Address to (node, op) of all reached nodes. Drop it soon: it holds the nodes.
    """
    reached: Reached = {}
    links_of: dict[int, list[Link]] = {}
    pending: list[tuple[Any, int, int]] = []
    root_addresses = []
    for node, op in roots:
        address = DOOR.node_address(node)
        root_addresses.append(address)
        held = pool.held.get(address)
        pending.append((node, address, op if held is None else held[1]))
    while pending:
        node, address, op = pending.pop()
        if address in reached:
            continue
        reached[address] = (node, op)
        links_of[address] = []
        if address in pool.held and address in pool.leaf_keys:
            continue
        upstream = pool.lineage.upstream(op) if op != NO_OP else {}
        links_of[address], found = _following(pool, node, op, upstream)
        found.reverse()
        pending += found
    _record(pool, reached, links_of)
    for address in dict.fromkeys(root_addresses):
        pool.roots.extend((backward_call, pool.keys.find(address, reached[address][1])))
    return reached if returns_reached else {}


def _following(
    pool: GradNodePool, node: Any, op: int, upstream: Upstream
) -> tuple[list[Link], list[tuple[Any, int, int]]]:
    """Return a node's links, and its next nodes with their addresses and ops."""
    links: list[Link] = []
    found: list[tuple[Any, int, int]] = []
    for slot, following in enumerate(DOOR.next_functions(node)):
        if following is None:
            continue
        target = pool.leaf_addresses.get(following) or DOOR.node_address(following)
        source, held = upstream.get(target), pool.held.get(target)
        links.append((slot, target, NO_TENSOR if source is None else source[1]))
        if held is not None:
            made_by = held[1]
        elif source is not None:
            made_by = source[0]
        else:
            made_by = NO_OP if following.name() == LEAF_NAME else op
        found.append((following, target, made_by))
    return links, found


def _record(pool: GradNodePool, reached: Reached, links_of: dict[int, list[Link]]) -> None:
    """Record the nodes that are not recorded yet, and their edges."""
    keys: dict[int, int] = {}
    fresh: list[int] = []
    for address, (node, op) in reached.items():
        keys[address] = pool.keys.find(address, op)
        if keys[address] >= 0:
            continue
        name = node.name()
        keys[address] = key = pool.next_key()
        pool.keys.note(address, op, key)
        pool.rows.extend((key, pool.key_of_name(name), address, op))
        if op == NO_OP:
            pool.held[address] = (node, op)
        if name == LEAF_NAME:
            pool.leaf_keys[address], pool.leaf_addresses[node] = key, address
        fresh.append(address)
    for address in fresh:
        cells: list[int] = []
        for slot, target, tensor in links_of[address]:
            cells += (pool.next_edge(), keys[address], keys[target], slot, tensor)
        pool.edges.extend(cells)
