"""Finds the backward graphs that keep blocks alive, by the ops that made or read the blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.holders.living import BackwardGraph
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ROLES
from paddle_lab.trace.trees import nearest_marked

Keys = npt.NDArray[np.int64]


def saved_by(
    record: Record, blocks: Keys, graphs: Sequence[BackwardGraph]
) -> Iterator[tuple[int, list[str]]]:
    """Yield blocks that backward graphs saved, with paths to the tensors that hold the graphs.

    Parameters
    ----------
    record
        A record with allocations.
    blocks
        The blocks to examine.
    graphs
        The graphs. Each node is in only one of them.
    """
    if not graphs or not len(blocks):
        return
    graphs_of_op = _graphs_of_ops(record, graphs)
    allocations = record.allocations
    ops_of_tensor = _users(record, allocations["tensor"][blocks], list(graphs_of_op))
    for key, op, grad_node, tensor in zip(
        blocks.tolist(),
        allocations["op"][blocks].tolist(),
        allocations["grad_node"][blocks].tolist(),
        allocations["tensor"][blocks].tolist(),
        strict=True,
    ):
        # A graph does not save blocks that its own backward allocated.
        ops = [op] if grad_node < 0 else []
        ops += ops_of_tensor.get(tensor, ())
        found = dict.fromkeys(graph for one in ops for graph in graphs_of_op.get(one, ()))
        if found:
            names = (name for graph in found for name in graphs[graph].names)
            yield key, list(dict.fromkeys(names))


def _graphs_of_ops(record: Record, graphs: Sequence[BackwardGraph]) -> dict[int, list[int]]:
    """Return for each op the positions of the graphs with a node of the op or of its PyLayer."""
    graph_of_node = {
        node: position for position, graph in enumerate(graphs) for node in graph.nodes
    }
    nodes = record.grad_nodes
    found: dict[int, list[int]] = {}
    for address, op in zip(nodes["address"].tolist(), nodes["op"].tolist(), strict=True):
        graph = graph_of_node.get(address)
        if op >= 0 and graph is not None:
            found.setdefault(op, []).append(graph)
    for op, pylayer in _inner_ops(record):
        if pylayer in found:
            found.setdefault(op, []).extend(found[pylayer])
    return found


def _inner_ops(record: Record) -> Iterator[tuple[int, int]]:
    """Yield each op that a PyLayer called, with the PyLayer's op. Its context may keep tensors."""
    scopes = record.scopes
    is_pylayer = scopes["op"] >= 0
    if not is_pylayer.any():
        return
    ops, scope = np.arange(len(record.ops)), record.ops["scope"].astype(np.int64)
    while True:
        inside = scope >= 0
        ops, scope = ops[inside], scope[inside]
        if not len(ops):
            return
        called = is_pylayer[scope]
        yield from zip(ops[called].tolist(), scopes["op"][scope[called]].tolist(), strict=True)
        scope = scopes["parent"][scope].astype(np.int64)


def _users(record: Record, tensors: npt.NDArray[Any], ops: list[int]) -> dict[int, list[int]]:
    """Return for each tensor which of the ops used it, or used another tensor in its block."""
    uses = record.uses
    is_sought = np.zeros(len(record.tensors) + 1, bool)
    is_sought[tensors] = True
    is_sought[-1] = False
    is_op = np.zeros(len(record.ops), bool)
    is_op[ops] = True
    rows = np.flatnonzero(is_op[uses["op"]])
    used = _in_whose_memory(record)[uses["tensor"][rows]]
    rows, used = rows[is_sought[used]], used[is_sought[used]]
    found: dict[int, list[int]] = {}
    for tensor, op in zip(used.tolist(), uses["op"][rows].tolist(), strict=True):
        found.setdefault(tensor, []).append(op)
    return found


def _in_whose_memory(record: Record) -> Keys:
    """Return for each tensor the tensor whose block contains it; itself if unknown.

    If an op allocates nothing, such as ``reshape``, its output is in the block of its first input.
    """
    tensors, uses = record.tensors, record.uses
    rows = np.arange(len(tensors))
    has_block = np.zeros(len(tensors) + 1, bool)
    has_block[record.allocations["tensor"]] = True
    inputs = np.flatnonzero(uses["role"] == ROLES.index("input"))[::-1]  # the first one wins
    first_input = np.full(len(record.ops) + 1, -1, np.int64)
    first_input[uses["op"][inputs]] = uses["tensor"][inputs]
    memory = rows
    for before in (first_input[tensors["producer"]], tensors["detached_from"], tensors["previous"]):
        memory = np.where(before >= 0, before, memory)
    is_own = has_block[:-1] | (memory == rows)
    # In a damaged record, tensors may form a cycle. Such tensors have no known block.
    return nearest_marked(np.where(is_own, -1, memory), is_own).astype(np.int64)
