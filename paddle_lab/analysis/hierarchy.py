"""The group tree: calls of layers, regions and PyLayers, and call sites where there are none."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.analysis.call_sites import add_call_sites
from paddle_lab.analysis.grouping import Grouping
from paddle_lab.analysis.structure import structure_numbers
from paddle_lab.analysis.trees import Keys, depths, first_ops, levels
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table, storage_dtype

_LAYER, _PYLAYER = SCOPE_KINDS.index("layer"), SCOPE_KINDS.index("pylayer")


def hierarchy(record: Record, op_edges: Table, strings: StringPool) -> tuple[Table, Table]:
    """Return the ``groups`` and ``op_groups`` tables.

    Parameters
    ----------
    record
        The trace.
    op_edges
        As from :func:`paddle_lab.analysis.dataflow.op_edges`.
    strings
        The record's strings; labels that are not among them are added.

    Notes
    -----
    A scope that holds ops, directly or nested, is a group; others are left out. Groups are sorted
    by their first op, parents before children. A label is relative to the path of the nearest
    layer above: ``layers.0`` inside ``encoder``.
    """
    grouping = _scope_groups(record)
    add_call_sites(record, grouping)
    return _tables(record, grouping, op_edges, strings)


def _scope_groups(record: Record) -> Grouping:
    scope_of_op = record.ops["scope"].copy()
    scopes = record.scopes
    _move_pylayer_ops(record, scope_of_op)
    has_ops = np.zeros(len(scopes) + 1, bool)
    frontier = np.unique(scope_of_op[scope_of_op >= 0])
    while len(frontier):
        has_ops[frontier] = True
        above = scopes["parent"][frontier]
        frontier = np.unique(above[(above >= 0) & ~has_ops[above]])
    kept = np.flatnonzero(has_ops)
    group_of_scope = np.full(len(scopes) + 1, -1, np.int32)
    group_of_scope[kept] = np.arange(len(kept))
    # Row -1 is the appended one, which stands for "no scope".
    grouping = Grouping(group_of_scope[scope_of_op])
    parents = group_of_scope[scopes["parent"][kept]].tolist()
    kind, layer = scopes["kind"][kept], scopes["layer"][kept]
    is_layer = (kind == _LAYER) & (layer >= 0)
    text, class_name = scopes["name"][kept], np.full(len(kept), -1)
    text[is_layer] = record.layers["path"][layer[is_layer]]
    class_name[is_layer] = record.layers["class"][layer[is_layer]]
    texts = record.strings
    grouping.add_scopes(
        kinds=kind.tolist(),
        parents=parents,
        scopes=kept.tolist(),
        texts=[texts[code] for code in text.tolist()],
        classes=[texts[code] if code >= 0 else "" for code in class_name.tolist()],
    )
    return grouping


def _move_pylayer_ops(record: Record, scope_of_op: Keys) -> None:
    """Put a PyLayer's own op beside the ops that run inside it, so that one group is all of it."""
    scopes = record.scopes
    parent, own_op = scopes["parent"], scopes["op"]
    own_scope = np.where(own_op >= 0, np.append(scope_of_op, -1)[own_op], -1)
    rows = np.arange(len(scopes))
    direct = np.bincount(scope_of_op[scope_of_op >= 0], minlength=len(scopes))
    nested = np.bincount(parent[parent >= 0], minlength=len(scopes))
    has_others = direct - (own_scope == rows) + nested > 0
    # The same PyLayer's backward has a scope too, elsewhere; its op stays where it was called.
    is_call = (scopes["kind"] == _PYLAYER) & (own_op >= 0)
    is_call &= (own_scope == parent) | (own_scope == rows)
    scope_of_op[own_op[is_call]] = np.where(has_others, rows, parent)[is_call]


def _tables(
    record: Record, grouping: Grouping, op_edges: Table, strings: StringPool
) -> tuple[Table, Table]:
    op_group = grouping.op_groups
    parent = np.asarray(grouping.parents, np.int32)
    first_op, op_count, order = _extents(parent, op_group)
    position = np.empty(len(order) + 1, np.int32)
    position[order] = np.arange(len(order))
    position[-1] = -1
    parent, op_group = position[parent[order]], position[op_group]
    first_op, op_count = first_op[order], op_count[order]
    kinds, texts, classes = (
        [column[group] for group in order.tolist()]
        for column in (grouping.kinds, grouping.texts, grouping.classes)
    )
    labels, paths = _labels(kinds, texts, parent.tolist())
    columns: dict[str, Any] = {
        "kind": kinds,
        "label": strings.codes(labels),
        "path": strings.codes(paths),
        "class": strings.codes(classes),
        "parent": parent,
        "scope": np.asarray(grouping.scopes, np.int32)[order],
        "op_count": op_count,
        "first_op": first_op,
    }
    alike = strings.codes([grouping.alike(group) for group in order.tolist()])
    columns["structure"] = structure_numbers(
        parents=parent,
        group_labels=np.asarray(alike, np.int64),
        first_ops=first_op,
        op_groups=op_group,
        op_names=record.ops["name"],
        sources=op_edges["source"],
        targets=op_edges["target"],
        edge_labels=op_edges["slot"].astype(np.int64) * 2 + op_edges["kind"],
    )
    schema = ANSWER_TABLES["groups"]
    groups = Table.from_sequences(schema, {name: columns[name] for name in schema})
    dtype = storage_dtype(ANSWER_TABLES["op_groups"]["group"])
    return groups, Table({"group": op_group.astype(dtype)})


def _extents(parent: Keys, op_group: Keys) -> tuple[Keys, Keys, Keys]:
    """Return each group's first op and number of ops, and the groups' order."""
    first_op = first_ops(parent, op_group)
    op_count = np.bincount(op_group[op_group >= 0], minlength=len(parent)).astype(np.int32)
    depth = depths(parent)
    for nested in reversed(levels(depth)[1:]):
        np.add.at(op_count, parent[nested], op_count[nested])
    return first_op, op_count, np.lexsort((depth, first_op)).astype(np.int32)


def _labels(kinds: list[int], texts: list[str], parents: list[int]) -> tuple[list[str], list[str]]:
    labels: list[str] = []
    paths: list[str] = []
    layer_above: list[str] = []
    for kind, text, parent in zip(kinds, texts, parents, strict=True):
        above = layer_above[parent] if parent >= 0 else ""
        if kind == _LAYER:
            labels.append(
                text[len(above) + 1 :] if above and text.startswith(above + ".") else text
            )
            paths.append(text)
            layer_above.append(text)
        else:
            labels.append(text)
            paths.append(f"{above} / {text}" if above else text)
            layer_above.append(above)
    return labels, paths
