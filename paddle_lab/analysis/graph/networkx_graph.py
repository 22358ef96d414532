"""The graphs for further analysis: networkx, with attributes in plain Python types."""

from __future__ import annotations

from typing import Any, Literal

import networkx as nx
import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.scopes import innermost_scopes
from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.analysis.tables.ops import Op, OpTable
from paddle_lab.analysis.tables.tensors import Tensor, parse_shape
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import EDGE_KINDS, SCOPE_KINDS
from paddle_lab.words import say

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
            name=op.name,
            layer=op.layer,
            phase=op.phase,
            duration_ns=op.duration_ns,
            attributes=op.attributes,
            region=op.region,
            is_pylayer=op.is_pylayer,
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
    """Return the graph of grad nodes, with edges the way the gradient flows.

    Parameters
    ----------
    record
        A record with answer tables.
    call
        Key of a backward call, to have its graph only.
    region
        Name of a region, to have each node's ``region_role``.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are grad node keys with ``name``, ``layer``, ``file``, ``line``, ``op`` (key of the
        op that made it, or None), ``parameter`` (Paddle's name of the parameter a leaf accumulates
        into, or None), ``address`` and ``region``. With ``region``, ``region_role`` is
        ``"inside"`` for nodes made in the region, ``"leaf"`` for leaves they reach directly,
        ``"neighbour"`` for other nodes beside them, else None. Edges carry ``shape``, ``dtype``
        and ``slot``.

    Raises
    ------
    ValueError
        If there is no such backward call or region.
    """
    kept = _members(record, call)
    roles = _region_roles(record, region) if region is not None else None
    nodes, ops = record.grad_nodes, OpTable(record)
    op_of_node, leaf_of_node = nodes["op"].tolist(), nodes["parameter"].tolist()
    regions = _regions_of_nodes(record)
    graph = nx.MultiDiGraph()
    for node in np.flatnonzero(kept).tolist():
        op = ops[op_of_node[node]] if op_of_node[node] >= 0 else None
        leaf = leaf_of_node[node]
        graph.add_node(
            node,
            name=record.text(int(nodes["name"][node])),
            layer=op.layer if op else _layer_of_leaf(record, leaf),
            op=op.key if op else None,
            parameter=(Tensor(record, leaf).name or None) if leaf >= 0 else None,
            address=int(nodes["address"][node]),
            region=regions[node],
            **_place_in_code(op),
            **({"region_role": roles[node]} if roles is not None else {}),
        )
    edges = record.grad_edges
    is_kept = np.append(kept, False)
    rows = np.flatnonzero(is_kept[edges["source"]] & is_kept[edges["target"]]).tolist()
    for row in rows:
        graph.add_edge(
            int(edges["source"][row]),
            int(edges["target"][row]),
            shape=parse_shape(record.text(int(edges["shape"][row]))),
            dtype=record.text(int(edges["dtype"][row])),
            slot=int(edges["slot"][row]),
        )
    return graph


def _members(record: Record, call: int | None) -> npt.NDArray[np.bool_]:
    """Return which grad nodes are wanted, bool, shape ``[grad nodes]``."""
    count = len(record.backward_calls)
    if call is None:
        return np.ones(len(record.grad_nodes), bool)
    if not 0 <= call < count:
        if not count:
            raise ValueError(say("errors.no_call_at_all", call=call))
        raise ValueError(say("errors.no_call", call=call, last=count - 1))
    members = record.backward_members
    kept = np.zeros(len(record.grad_nodes), bool)
    kept[members["grad_node"][members["backward_call"] == call]] = True
    return kept


def _regions_of_nodes(record: Record) -> list[str | None]:
    region_of_op = np.append(innermost_scopes(record, "region"), -1)
    scopes = region_of_op[record.grad_nodes["op"]].tolist()
    names = record.scopes["name"].tolist()
    return [record.text(names[scope]) if scope >= 0 else None for scope in scopes]


def _region_roles(record: Record, region: str) -> list[RegionRole | None]:
    inside = _made_inside(record, region)
    edges = record.grad_edges
    linked = (edges["source"] >= 0) & (edges["target"] >= 0)
    source, target = edges["source"][linked], edges["target"][linked]
    beside = np.zeros(len(inside), bool)
    beside[source[inside[target]]] = True
    beside[target[inside[source]]] = True
    is_leaf = record.grad_nodes["parameter"] >= 0
    roles: list[RegionRole | None] = []
    for is_inside, is_beside, leaf in zip(
        inside.tolist(), beside.tolist(), is_leaf.tolist(), strict=True
    ):
        if is_inside:
            roles.append("inside")
        elif is_beside:
            roles.append("leaf" if leaf else "neighbour")
        else:
            roles.append(None)
    return roles


def _made_inside(record: Record, region: str) -> npt.NDArray[np.bool_]:
    """Return which grad nodes an op made that ran in a region of this name, at any depth."""
    scopes = record.scopes
    is_wanted = scopes["kind"] == SCOPE_KINDS.index("region")
    names = {record.text(code) for code in np.unique(scopes["name"][is_wanted]).tolist()}
    if region not in names:
        if not names:
            raise ValueError(say("errors.no_region_at_all", region=repr(region)))
        known = ", ".join(sorted(names))
        raise ValueError(say("errors.no_region", region=repr(region), known=known))
    codes = [code for code, text in enumerate(record.strings) if text == region]
    is_wanted &= np.isin(scopes["name"], codes)
    nearest = nearest_marked(scopes["parent"], is_wanted)
    in_region = np.append(nearest, -1)[np.append(record.ops["scope"], -1)] >= 0
    return np.take(in_region, record.grad_nodes["op"])


def _layer_of_leaf(record: Record, tensor: int) -> str:
    return Tensor(record, tensor).path.rpartition(".")[0] if tensor >= 0 else ""


def _place_in_code(op: Op | None) -> dict[str, Any]:
    frame = op.frame if op else None
    return {
        "file": frame.file if frame else "",
        "line": frame.line if frame else 0,
        "function": frame.function if frame else "",
        "cell": frame.cell if frame else None,
    }


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {
        "tensor": tensor.key,
        "name": tensor.name,
        "path": tensor.path,
        "dtype": tensor.dtype,
        "shape": tensor.shape,
        "place": tensor.place,
        "stop_gradient": tensor.stop_gradient,
        "kind": tensor.kind,
    }
