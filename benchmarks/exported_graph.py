"""A trace's graph for other tools: the same nodes and edges, as DOT, ONNX or JSON.

Nodes are ops and grad nodes; edges are tensors and gradients. Tools that support groups get the
groups of our view.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from paddle_lab.api import Trace
from paddle_lab.trace.record import Record


@dataclass(frozen=True)
class ExportedGraph:
    """Nodes by position. An edge has the positions of its source and its target."""

    labels: list[str]
    groups: list[str]
    """Names of groups from the outermost inwards, separated by slashes; ``""`` for no group."""
    edges: list[tuple[int, int]]


def exported(trace: Trace) -> ExportedGraph:
    """Return the graph of a trace: ops, then grad nodes."""
    record = trace.view_record
    labels = [record.strings[code] for code in record.ops["name"].tolist()]
    labels += [record.strings[code] for code in record.grad_nodes["name"].tolist()]
    groups = _groups(record)
    first_grad_node = len(record.ops)
    edges = list(
        zip(record.op_edges["source"].tolist(), record.op_edges["target"].tolist(), strict=True)
    )
    edges += zip(
        (record.grad_edges["source"] + first_grad_node).tolist(),
        (record.grad_edges["target"] + first_grad_node).tolist(),
        strict=True,
    )
    return ExportedGraph(labels, groups, edges)


def _groups(record: Record) -> list[str]:
    paths = [""]
    names = record.groups["label"].tolist()
    for name, parent in zip(names, record.groups["parent"].tolist(), strict=True):
        inside = f"{paths[parent + 1]}/" if parent >= 0 else ""
        paths.append(inside + record.strings[name].replace("/", "_"))
    of_op = [paths[group + 1] for group in record.op_groups["group"].tolist()]
    of_node = record.grad_node_groups["group"].tolist()
    # The node of a parameter has no group. It gets the group of the grad node that passes the
    # gradient to it.
    for source, target in zip(
        record.grad_edges["source"].tolist(), record.grad_edges["target"].tolist(), strict=True
    ):
        if of_node[target] < 0:
            of_node[target] = of_node[source]
    if len(paths) == 1:
        return of_op + [""] * len(of_node)
    return of_op + [f"backward/{paths[group + 1]}".rstrip("/") for group in of_node]


def write_neutral(graph: ExportedGraph, path: Path) -> Path:
    """Write plain JSON, which the programs that run other tools read."""
    path.write_text(
        json.dumps({"labels": graph.labels, "groups": graph.groups, "edges": graph.edges})
    )
    return path


def write_dot(graph: ExportedGraph, path: Path) -> Path:
    """Write DOT; groups become nested clusters, as in our view."""
    lines = ["digraph {", "  node [shape=box];"]
    lines += [f'  n{node} [label="{label}"];' for node, label in enumerate(graph.labels)]
    members: dict[str, list[int]] = {}
    for node, group in enumerate(graph.groups):
        members.setdefault(group, []).append(node)
    open_names: list[str] = []
    for group in sorted(members, key=lambda path: path.split("/")):
        names = group.split("/") if group else []
        common = 0
        while common < min(len(names), len(open_names)) and names[common] == open_names[common]:
            common += 1
        lines += ["}"] * (len(open_names) - common)
        for depth in range(common, len(names)):
            lines.append(f'subgraph "cluster_{"/".join(names[: depth + 1])}" {{')
            lines.append(f'label="{names[depth]}";')
        lines += [f"n{node};" for node in members[group]]
        open_names = names
    lines += ["}"] * len(open_names)
    lines += [f"  n{source} -> n{target};" for source, target in graph.edges]
    path.write_text("\n".join([*lines, "}"]))
    return path


def write_model_explorer(graph: ExportedGraph, path: Path) -> Path:
    """Write a graph collection, Model Explorer's own JSON."""
    incoming: list[list[dict[str, str]]] = [[] for _ in graph.labels]
    for source, target in graph.edges:
        incoming[target].append(
            {
                "sourceNodeId": str(source),
                "sourceNodeOutputId": "0",
                "targetNodeInputId": str(len(incoming[target])),
            }
        )
    nodes = [
        {"id": str(node), "label": label, "namespace": group, "incomingEdges": edges}
        for node, (label, group, edges) in enumerate(
            zip(graph.labels, graph.groups, incoming, strict=True)
        )
    ]
    collection = {"label": path.stem, "graphs": [{"id": path.stem, "nodes": nodes}]}
    path.write_text(json.dumps(collection))
    return path
