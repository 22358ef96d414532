"""The tree of groups: calls of layers, regions, PyLayers and functions, and loop iterations."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.analysis.graph.initial_ops import initial_ops
from paddle_lab.analysis.graph.shown_scopes import shown_scopes
from paddle_lab.analysis.graph.structure import structure_numbers
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import Keys, depths, gathered, nearest_marked, taken

_LAYER, _PYLAYER, _CALL, _TURN, _BLOCK = (
    SCOPE_KINDS.index(kind) for kind in ("layer", "pylayer", "call", "turn", "block")
)


def hierarchy(record: Record, op_edges: Table, strings: StringPool) -> tuple[Table, Table]:
    """Return the ``groups`` and ``op_groups`` tables.

    Parameters
    ----------
    record
        The trace.
    op_edges
        From :func:`paddle_lab.analysis.graph.dataflow.op_edges`.
    strings
        The record's strings; new labels are added.

    Notes
    -----
    :func:`~paddle_lab.analysis.graph.shown_scopes.shown_scopes` says which scopes are groups. They
    are sorted by their first op, parents before children. A label is relative to the path of the
    nearest layer above: ``layers.0`` inside ``encoder``. A turn (one iteration of a loop) is
    labelled with its loop's name and its number: ``epoch 2``.
    """
    scopes = record.scopes
    scope_of_op = _with_pylayer_ops(record)
    is_shown = shown_scopes(record, scope_of_op)
    # Groups are first numbered by scope, and later sorted.
    scope = np.flatnonzero(is_shown)
    number = np.full(len(scopes), -1, np.int32)
    number[scope] = np.arange(len(scope))
    group_of_scope = taken(number, nearest_marked(scopes["parent"], is_shown))
    parent = taken(group_of_scope, scopes["parent"][scope])
    op_group = taken(group_of_scope, scope_of_op)
    op_count = np.bincount(op_group[op_group >= 0], minlength=len(scope))
    op_count = gathered(parent, op_count, np.add)
    first_op = np.full(len(scope) + 1, len(op_group), np.int32)
    np.minimum.at(first_op, op_group, np.arange(len(op_group), dtype=np.int32))
    first_op = gathered(parent, first_op[:-1], np.minimum)
    order = np.lexsort((depths(parent), first_op))
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order))
    parent, op_group = taken(position, parent[order]), taken(position, op_group)
    scope, first_op, op_count = scope[order], first_op[order], op_count[order]
    kinds = scopes["kind"][scope].tolist()
    texts = _texts(record, kinds, scope.tolist(), parent.tolist())
    alike = strings.codes(texts.pop("alike"))
    columns: dict[str, Any] = {
        **{name: strings.codes(column) for name, column in texts.items()},
        "kind": kinds,
        "parent": parent,
        "scope": scope,
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
    return (
        Table.from_sequences(ANSWER_TABLES["groups"], columns),
        Table.from_sequences(
            ANSWER_TABLES["op_groups"],
            {"group": op_group.tolist(), "is_initial": initial_ops(record).tolist()},
        ),
    )


def _texts(
    record: Record, kinds: list[int], scopes: list[int], parents: list[int]
) -> dict[str, list[str]]:
    """Return the text columns of the groups, and the text that must be equal in alike groups."""
    texts, turns = record.strings, record.turns
    names, layers = record.scopes["name"].tolist(), record.scopes["layer"].tolist()
    paths, classes = record.layers["path"].tolist(), record.layers["class"].tolist()
    words = record.loops["words"][turns["loop"]].tolist()
    values = zip(words, turns["number"].tolist(), turns["value"].tolist(), strict=True)
    turn_of_scope = dict(zip(turns["scope"].tolist(), values, strict=True))
    rows: list[tuple[str, ...]] = []
    layer_above: list[str] = []
    for kind, scope, parent in zip(kinds, scopes, parents, strict=True):
        above = layer_above[parent] if parent >= 0 else ""
        text, class_name, value, alike = texts[names[scope]], "", "", ""
        is_layer = kind == _LAYER
        if is_layer and layers[scope] >= 0:
            text = texts[paths[layers[scope]]]
            alike = class_name = texts[classes[layers[scope]]]
        elif kind == _TURN:
            loop, number, code = turn_of_scope[scope]
            alike, value = texts[loop], texts[code]
            between = " · " if alike.startswith(("for ", "while ")) else " "
            text = f"{alike}{between}{number}"
        elif kind == _CALL:
            text, alike = f"{text}(…)", text
        within = "" if is_layer or not above else f"{above} / "
        label = text.removeprefix(f"{above}.") if is_layer and above else text
        layer_above.append(text if is_layer else above)
        rows.append((label, within + text, class_name, value, f"{kind} {alike}"))
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    return dict(zip(("label", "path", "class", "value", "alike"), map(list, columns), strict=True))


def _with_pylayer_ops(record: Record) -> Keys:
    """Return each op's scope; a PyLayer's op gets the scope of the ops that run inside it.

    So one group contains the whole PyLayer.
    """
    scopes, scope_of_op = record.scopes, record.ops["scope"].copy()
    parent, own_op = scopes["parent"], scopes["op"]
    own_scope = np.where(own_op >= 0, taken(scope_of_op, own_op), -1)
    rows = np.arange(len(scopes))
    direct = np.bincount(scope_of_op[scope_of_op >= 0], minlength=len(scopes))
    nested = np.bincount(parent[parent >= 0], minlength=len(scopes))
    has_others = direct - (own_scope == rows) + nested > 0
    # The scope of a PyLayer's backward also names the PyLayer's op, which stays in the forward.
    # A compiled program's scope names the op that ran it; the program is drawn inside that op.
    is_call = np.isin(scopes["kind"], (_PYLAYER, _BLOCK)) & (own_op >= 0)
    is_call &= (own_scope == parent) | (own_scope == rows)
    scope_of_op[own_op[is_call]] = np.where(has_others, rows, parent)[is_call]
    return scope_of_op
