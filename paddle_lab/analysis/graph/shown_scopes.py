"""Chooses the scopes that become groups of a graph: layer calls, and some calls and iterations."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.trees import Keys, depths, gathered, levels, nearest_marked, taken

_LAYER, _CALL, _TURN = (SCOPE_KINDS.index(kind) for kind in ("layer", "call", "turn"))

_FEWEST_AT_TOP_LEVEL: Final = 8
"""If the whole trace has fewer ops than this, functions are not shown as groups."""
_FEWEST_IN_LAYER: Final = 41
"""If a layer itself runs fewer ops than this, functions in it are not shown as groups."""

Mask = npt.NDArray[np.bool_]


def shown_scopes(record: Record, scope_of_op: Keys) -> Mask:
    """Return which scopes are groups, bool, shape ``[scopes]``.

    An iteration of a loop is a group, even with few ops. There are two exceptions. One is an
    iteration without a body: a ``while`` that evaluated its condition for the last time. The other
    is a layer's loop over its sublayers, because the sublayers are groups already. A call of a
    function is a group if there are many ops around it and it is not the only item in its parent.

    Parameters
    ----------
    record
        The trace.
    scope_of_op
        The scope of each op, -1 for none.
    """
    scopes = record.scopes
    loop_of_turn = np.full(len(scopes), -1, np.int64)
    loop_of_turn[record.turns["scope"]] = record.turns["loop"]
    has_ops = np.bincount(scope_of_op + 1, minlength=len(scopes) + 1)[1:] > 0
    is_shown: Mask = gathered(scopes["parent"], has_ops, np.logical_or)
    is_shown &= (scopes["kind"] != _TURN) | (loop_of_turn >= 0)
    if np.any(scopes["kind"] == _TURN):
        _hide_turns_of_layers(record, scope_of_op, loop_of_turn, is_shown)
    if np.any(scopes["kind"] == _CALL):
        _hide_calls(record, scope_of_op, is_shown)
    return is_shown


def _items(parent: Keys, is_shown: Mask, scope_of_op: Keys) -> tuple[Any, Any, Keys]:
    """Return how many ops and groups are directly in each group, and the group of each scope.

    The last entry of both counts is for the top level.
    """
    nearest = nearest_marked(parent, is_shown)
    around = taken(nearest, parent)
    ops = np.bincount(taken(nearest, scope_of_op) + 1, minlength=len(parent) + 1)
    groups = np.bincount(around[is_shown] + 1, minlength=len(parent) + 1)
    return np.roll(ops, -1), np.roll(groups, -1), around


def _hide_turns_of_layers(
    record: Record, scope_of_op: Keys, loop_of_turn: npt.NDArray[Any], is_shown: Mask
) -> None:
    kind, parent = record.scopes["kind"], record.scopes["parent"]
    ops, groups, around = _items(parent, is_shown, scope_of_op)
    turns = np.flatnonzero(is_shown & (kind == _TURN))
    # For an iteration with exactly one item: this item.
    only = np.full(len(kind) + 1, -1, np.int64)
    shown = np.flatnonzero(is_shown)
    only[around[shown]] = shown
    inside = np.where((ops[turns] == 0) & (groups[turns] == 1), only[turns], -1)
    is_layer = (inside >= 0) & (kind[inside] == _LAYER)
    layer = np.where(is_layer, record.scopes["layer"][inside], -1)
    in_layer = nearest_marked(parent, kind == _LAYER)[turns] >= 0
    loops: dict[tuple[int, int], list[int]] = {}
    for at, key in enumerate(
        zip(around[turns].tolist(), loop_of_turn[turns].tolist(), strict=True)
    ):
        loops.setdefault(key, []).append(at)
    for members in loops.values():
        run = layer[members].tolist()
        is_over_layers = in_layer[members[0]] and -1 not in run and len(set(run)) == len(run)
        if is_over_layers and (len(run) > 1 or _is_member_of_list(record, run[0])):
            is_shown[turns[members]] = False


def _is_member_of_list(record: Record, layer: int) -> bool:
    return record.text(int(record.layers["path"][layer])).rpartition(".")[2].isdigit()


def _hide_calls(record: Record, scope_of_op: Keys, is_shown: Mask) -> None:
    kind, parent = record.scopes["kind"], record.scopes["parent"]
    is_call = kind == _CALL
    # Containers are layers, regions and others: every scope except calls and iterations.
    container = nearest_marked(parent, ~is_call & (kind != _TURN))
    run = np.bincount(taken(container, scope_of_op) + 1, minlength=len(kind) + 1)
    fewest = np.full(len(run), _FEWEST_IN_LAYER)
    fewest[0] = _FEWEST_AT_TOP_LEVEL
    # At the top level, ops inside layers count as well.
    run[0] = len(scope_of_op)
    is_shown &= ~is_call | (run >= fewest)[container + 1]
    # Go outward. If a call is not a group, its items belong to its parent.
    for rows in reversed(levels(depths(parent))):
        calls = rows[is_call[rows] & is_shown[rows]]
        if len(calls):
            ops, groups, around = _items(parent, is_shown, scope_of_op)
            items = ops + groups
            is_shown[calls[(items[calls] < 2) | (items[around[calls]] == 1)]] = False
