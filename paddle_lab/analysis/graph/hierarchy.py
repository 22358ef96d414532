"""The group tree: calls of layers, regions, PyLayers and functions, and the turns of loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.analysis.graph.shown_scopes import ShownScopes
from paddle_lab.analysis.graph.structure import structure_numbers
from paddle_lab.analysis.graph.trees import Keys, depths, first_ops, levels
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table, storage_dtype

_LAYER, _PYLAYER, _CALL, _TURN = (
    SCOPE_KINDS.index(kind) for kind in ("layer", "pylayer", "call", "turn")
)


def hierarchy(record: Record, op_edges: Table, strings: StringPool) -> tuple[Table, Table]:
    """Return the ``groups`` and ``op_groups`` tables.

    Parameters
    ----------
    record
        The trace.
    op_edges
        As from :func:`paddle_lab.analysis.graph.dataflow.op_edges`.
    strings
        The record's strings; labels that are not among them are added.

    Notes
    -----
    :class:`~paddle_lab.analysis.graph.shown_scopes.ShownScopes` says which scopes are groups. They
    are sorted by their first op, parents before children. A label is relative to the path of the
    nearest layer above: ``layers.0`` inside ``encoder``. A turn is called by its loop's words and
    its number: ``epoch 2``.
    """
    scope_of_op = record.ops["scope"].copy()
    scopes = record.scopes
    _move_pylayer_ops(record, scope_of_op)
    shown = ShownScopes(record, scope_of_op)
    # Groups are numbered by scope first, then by their order.
    scope = np.flatnonzero(shown.is_shown)
    number = np.full(len(scopes) + 1, -1, np.int32)
    number[scope] = np.arange(len(scope))
    parent = number[shown.nearest[scopes["parent"][scope]]]
    op_group = number[shown.nearest[scope_of_op]]
    first_op, op_count, order = _extents(parent, op_group)
    position = np.empty(len(order) + 1, np.int32)
    position[order] = np.arange(len(order))
    position[-1] = -1
    scope, parent, op_group = scope[order], position[parent[order]], position[op_group]
    first_op, op_count = first_op[order], op_count[order]
    names = _Names(record)
    kinds = scopes["kind"][scope].tolist()
    told = [names.of(kind, row) for kind, row in zip(kinds, scope.tolist(), strict=True)]
    labels, paths = _labels(kinds, [text for text, _, _, _ in told], parent.tolist())
    alike = strings.codes([text for _, _, text, _ in told])
    columns: dict[str, Any] = {
        "kind": kinds,
        "label": strings.codes(labels),
        "path": strings.codes(paths),
        "class": strings.codes([text for _, text, _, _ in told]),
        "parent": parent,
        "scope": scope,
        "value": strings.codes([text for _, _, _, text in told]),
        "op_count": op_count,
        "first_op": first_op,
    }
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


class _Names:
    """What groups are called."""

    def __init__(self, record: Record) -> None:
        self._texts = record.strings
        self._names = record.scopes["name"].tolist()
        self._layers = record.scopes["layer"].tolist()
        self._paths = record.layers["path"].tolist()
        self._classes = record.layers["class"].tolist()
        turns, words = record.turns, record.loops["words"]
        self._turns = dict(
            zip(
                turns["scope"].tolist(),
                zip(
                    words[turns["loop"]].tolist(),
                    turns["number"].tolist(),
                    turns["value"].tolist(),
                    strict=True,
                ),
                strict=True,
            )
        )

    def of(self, kind: int, scope: int) -> tuple[str, str, str, str]:
        """Return a group's text, class, what must be equal of alike groups, and a turn's value."""
        texts = self._texts
        if kind == _LAYER and self._layers[scope] >= 0:
            layer = self._layers[scope]
            class_name = texts[self._classes[layer]]
            return texts[self._paths[layer]], class_name, f"{kind} {class_name}", ""
        if kind == _TURN:
            words, number, value = self._turns[scope]
            between = " " if texts[words].replace(", ", "").isidentifier() else " · "
            return f"{texts[words]}{between}{number}", "", f"{kind} {texts[words]}", texts[value]
        name = texts[self._names[scope]]
        if kind == _CALL:
            return f"{name}(…)", "", f"{kind} {name}", ""
        return name, "", f"{kind} ", ""


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
