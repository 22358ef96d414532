"""The graphs as networkx graphs, with attributes of plain Python types."""

from __future__ import annotations

from typing import Any, Literal

import networkx as nx
import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.tensors import Tensor, parse_shape
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EDGE_KINDS, SCOPE_KINDS
from paddle_lab.trace.trees import nearest_marked, taken
from paddle_lab.words import say

_OF_OP = (
    "name", "layer", "phase", "duration_ns", "attributes", "region", "is_pylayer",
)  # fmt: skip
_OF_TENSOR = ("name", "path", "dtype", "shape", "place", "stop_gradient", "kind")

RegionRole = Literal["inside", "neighbour", "leaf"]


def forward_graph(record: Record) -> nx.MultiDiGraph:
    """Return the data-flow graph of all ops.

    Parameters
    ----------
    record
        A record with answer tables.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are op keys with ``name``, ``layer``, ``phase``, ``file``, ``line``, ``function``,
        ``cell``, ``duration_ns``, ``attributes``, ``region``, ``is_pylayer``, ``inputs`` and
        ``outputs`` (lists of dicts). Edges carry ``tensor`` (its key), ``shape``, ``dtype`` and
        ``kind`` (``"data"`` or ``"detach"``).
    """
    graph = nx.MultiDiGraph()
    for op in OpTable(record):
        graph.add_node(
            op.key,
            **{name: getattr(op, name) for name in _OF_OP},
            inputs=[_tensor(tensor) for tensor in op.inputs],
            outputs=[_tensor(tensor) for tensor in op.outputs],
            **_place_in_code(op),
        )
    edges = record.op_edges
    for source, target, tensor, kind in zip(
        *(edges[name].tolist() for name in ("source", "target", "tensor", "kind")), strict=True
    ):
        value = Tensor(record, tensor)
        graph.add_edge(
            source,
            target,
            tensor=tensor,
            shape=value.shape,
            dtype=value.dtype,
            kind=EDGE_KINDS[kind],
        )
    return graph


def backward_graph(
    record: Record, call: int | None = None, region: str | None = None
) -> nx.MultiDiGraph:
    """Return the graph of grad nodes, with edges in the direction of the gradient.

    Parameters
    ----------
    record
        A record with answer tables.
    call
        The key of a backward call, to get only the graph of this call.
    region
        The name of a region. Each node then has a ``region_role``.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are grad node keys with ``name``, ``layer``, ``file``, ``line``, ``op`` (key of the op
        that made it, or None), ``parameter`` (for a leaf: Paddle's name of its parameter, or None),
        ``address`` and ``region``. With ``region``, ``region_role`` is ``"inside"`` for nodes made
        in the region, ``"leaf"`` for leaves next to such nodes, ``"neighbour"`` for other nodes
        next to them, and otherwise None. Edges carry ``shape``, ``dtype`` and ``slot``.

    Raises
    ------
    ValueError
        If there is no such backward call or region.
    """
    kept = _members(record, call)
    nodes, ops = record.grad_nodes, OpTable(record)
    op_of_node, leaf_of_node = nodes["op"].tolist(), nodes["parameter"].tolist()
    graph = nx.MultiDiGraph()
    for node in np.flatnonzero(kept).tolist():
        op = ops[op_of_node[node]] if op_of_node[node] >= 0 else None
        leaf = Tensor(record, leaf_of_node[node]) if leaf_of_node[node] >= 0 else None
        graph.add_node(
            node,
            name=record.text(int(nodes["name"][node])),
            layer=op.layer if op else leaf.path.rpartition(".")[0] if leaf else "",
            op=op.key if op else None,
            parameter=(leaf.name or None) if leaf else None,
            address=int(nodes["address"][node]),
            region=op.region if op else None,
            **_place_in_code(op),
        )
    if region is not None:
        roles = dict(enumerate(_region_roles(record, region)))
        nx.set_node_attributes(graph, roles, "region_role")
    edges = record.grad_edges
    is_kept = np.append(kept, False)
    for row in np.flatnonzero(is_kept[edges["source"]] & is_kept[edges["target"]]).tolist():
        graph.add_edge(
            int(edges["source"][row]),
            int(edges["target"][row]),
            shape=parse_shape(record.text(int(edges["shape"][row]))),
            dtype=record.text(int(edges["dtype"][row])),
            slot=int(edges["slot"][row]),
        )
    return graph


def _members(record: Record, call: int | None) -> npt.NDArray[np.bool_]:
    """Return which grad nodes belong to a call, or all for ``None``; bool, ``[grad nodes]``."""
    if call is None:
        return np.ones(len(record.grad_nodes), bool)
    count, members = len(record.backward_calls), record.backward_members
    if not 0 <= call < count:
        raise ValueError(say("errors.no_call", call=call, n=count))
    kept = np.zeros(len(record.grad_nodes), bool)
    kept[members["grad_node"][members["backward_call"] == call]] = True
    return kept


def _region_roles(record: Record, region: str) -> list[RegionRole | None]:
    inside = _made_inside(record, region)
    edges = record.grad_edges
    linked = (edges["source"] >= 0) & (edges["target"] >= 0)
    source, target = edges["source"][linked], edges["target"][linked]
    roles = np.full(len(inside), None, object)
    for own, beside in ((source, target), (target, source)):
        roles[beside[inside[own]]] = "neighbour"
    roles[(roles == "neighbour") & (record.grad_nodes["parameter"] >= 0)] = "leaf"
    roles[inside] = "inside"
    return list(roles)


def _made_inside(record: Record, region: str) -> npt.NDArray[np.bool_]:
    """Return which grad nodes were made by ops in regions of this name, at any depth."""
    scopes = record.scopes
    is_region = scopes["kind"] == SCOPE_KINDS.index("region")
    texts = np.array(record.strings, object)[scopes["name"]]
    names = set(texts[is_region])
    if region not in names:
        known = ", ".join(sorted(names)) or "–"
        raise ValueError(say("errors.no_region", region=repr(region), known=known))
    nearest = nearest_marked(scopes["parent"], is_region & (texts == region))
    of_op = taken(nearest, record.ops["scope"])
    return taken(of_op, record.grad_nodes["op"]) >= 0


def _place_in_code(op: Op | None) -> dict[str, Any]:
    if op is None:
        return {"file": "", "line": 0, "function": "", "cell": None}
    return {name: getattr(op, name) for name in ("file", "line", "function", "cell")}


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {"tensor": tensor.key, **{name: getattr(tensor, name) for name in _OF_TENSOR}}
