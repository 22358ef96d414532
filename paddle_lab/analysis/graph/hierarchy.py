"""The tree of groups: calls of layers, regions, PyLayers and functions, and loop iterations."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.shown_scopes import shown_scopes
from paddle_lab.analysis.graph.structure import structure_numbers
from paddle_lab.trace.distinct import distinct
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES, FRAME_KINDS, SCOPE_KINDS
from paddle_lab.trace.table import StringPool, Table
from paddle_lab.trace.trees import Keys, depths, gathered, nearest_marked, taken

_LAYER, _PYLAYER, _CALL, _TURN, _BLOCK = (
    SCOPE_KINDS.index(kind) for kind in ("layer", "pylayer", "call", "turn", "block")
)
_PADDLE, _USER = FRAME_KINDS.index("paddle"), FRAME_KINDS.index("user")
_INITIALIZER_FILE = re.compile(r"[\\/]nn[\\/]initializer[\\/]")
_LOADER_FILE = re.compile(r"[\\/]io[\\/]dataloader[\\/]")


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
    :func:`~paddle_lab.analysis.graph.shown_scopes.shown_scopes` decides which scopes are groups.
    Groups are sorted by their first op, parents before children. The label of a layer is relative
    to the layer around it: ``layers.0`` inside ``encoder``. The label of a turn (one iteration of a
    loop) has the loop's name and a number: ``epoch 2``.
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
    columns: dict[str, Any] = {
        **_texts(record, scope, parent, strings),
        "kind": scopes["kind"][scope],
        "parent": parent,
        "scope": scope,
        "op_count": op_count,
        "first_op": first_op,
    }
    alike = columns.pop("alike")
    columns["structure"] = structure_numbers(
        parents=parent,
        group_labels=alike,
        first_ops=first_op,
        op_groups=op_group,
        op_names=record.ops["name"],
        sources=op_edges["source"],
        targets=op_edges["target"],
        edge_labels=op_edges["slot"].astype(np.int64) * 2 + op_edges["kind"],
    )
    return (
        Table.from_sequences(ANSWER_TABLES["groups"], columns),
        Table({"group": op_group, "is_initial": _initial_ops(record).astype(np.uint8)}),
    )


def _texts(
    record: Record, scope: Keys, parent: Keys, strings: StringPool
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the text columns of the groups, and a column of equal numbers for alike groups.

    Groups with equal data share one text, which is made only once.
    """
    scopes, turns = record.scopes, record.turns
    kind, name, layer = (scopes[column][scope] for column in ("kind", "name", "layer"))
    turn = np.full(len(scopes), -1, np.int64)
    turn[turns["scope"]] = np.arange(len(turns))
    is_layer = kind == _LAYER
    layer = np.where(is_layer, layer, -1)
    name = np.where(layer >= 0, taken(record.layers["path"], layer), name)
    above = taken(name, taken(nearest_marked(parent, is_layer), parent))
    class_name = taken(record.layers["class"], layer)
    turn = np.where(kind == _TURN, turn[scope], -1)
    name = np.where(turn >= 0, taken(record.loops["words"], taken(turns["loop"], turn)), name)
    value, count = taken(turns["value"], turn), taken(turns["number"], turn)
    told = kind, name, class_name, value, count, above
    first, number = distinct(*told)
    distinct_rows = zip(*(column[first].tolist() for column in told), strict=True)
    made = chain.from_iterable(_text_row(record.strings, *row) for row in distinct_rows)
    codes = np.array(strings.codes(made), np.int64).reshape(-1, 5)[number]
    return dict(zip(("label", "path", "class", "value", "alike"), codes.T, strict=True))


def _text_row(
    texts: list[str], kind: int, name: int, class_name: int, value: int, number: int, above: int
) -> tuple[str, ...]:
    text, outer = texts[name], texts[above] if above >= 0 else ""
    alike = texts[class_name] if class_name >= 0 else ""
    if kind == _LAYER:
        label = text.removeprefix(f"{outer}.") if outer else text
        return label, text, alike, "", f"{kind} {alike}"
    if kind == _TURN:
        alike = text
        between = " · " if alike.startswith(("for ", "while ")) else " "
        text = f"{alike}{between}{number}"
    elif kind == _CALL:
        text, alike = f"{text}(…)", text
    path = f"{outer} / {text}" if outer else text
    return text, path, "", texts[value] if value >= 0 else "", f"{kind} {alike}"


def _with_pylayer_ops(record: Record) -> Keys:
    """Return each op's scope. The op of a PyLayer gets the scope of the ops inside it.

    So one group contains the whole PyLayer.
    """
    scopes, scope_of_op = record.scopes, record.ops["scope"].copy()
    parent, own_op = scopes["parent"], scopes["op"]
    own_scope = np.where(own_op >= 0, taken(scope_of_op, own_op), -1)
    rows = np.arange(len(scopes))
    direct = np.bincount(scope_of_op[scope_of_op >= 0], minlength=len(scopes))
    nested = np.bincount(parent[parent >= 0], minlength=len(scopes))
    has_others = direct - (own_scope == rows) + nested > 0
    # The scope of a PyLayer's backward also refers to the PyLayer's op, but the op stays in the
    # forward. The scope of a compiled program refers to an op, and the program is drawn inside this
    # op.
    is_call = np.isin(scopes["kind"], (_PYLAYER, _BLOCK)) & (own_op >= 0)
    is_call &= (own_scope == parent) | (own_scope == rows)
    scope_of_op[own_op[is_call]] = np.where(has_others, rows, parent)[is_call]
    return scope_of_op


def _initial_ops(record: Record) -> npt.NDArray[np.bool_]:
    """Return which ops Paddle called to fill new parameters, or to make batches in a `DataLoader`.

    They are known by the files in their stacks. A new model calls an initializer for each
    parameter. A loader of a `TensorDataset` takes each sample with an op. If the user's own dataset
    calls an op, the innermost of these frames is the user's.
    """
    caller = record.stacks["caller"]
    initializer = _innermost(record, _PADDLE, _INITIALIZER_FILE)
    loader, user = _innermost(record, _PADDLE, _LOADER_FILE), _innermost(record, _USER)
    depth = np.append(depths(caller), -1)
    is_inside = (initializer >= 0) | (depth[loader] > depth[user])
    is_initial: npt.NDArray[np.bool_] = np.append(is_inside, False)[record.ops["stack"]]
    return is_initial


def _innermost(record: Record, kind: int, file: re.Pattern[str] = re.compile("")) -> Keys:
    """Return each stack's part up to its innermost frame of this kind and file, -1 for none."""
    frames, texts = record.frames, record.strings
    is_file = [file.search(texts[code]) is not None for code in frames["file"].tolist()]
    marked = np.append(np.array(is_file, bool) & (frames["kind"] == kind), False)
    return nearest_marked(record.stacks["caller"], marked[record.stacks["frame"]])
