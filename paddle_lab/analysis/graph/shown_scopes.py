"""Which scopes are groups of a graph: all calls of layers, and the calls and turns worth a box."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Keys, depths, levels, nearest_marked
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS

_LAYER, _CALL, _TURN = (SCOPE_KINDS.index(kind) for kind in ("layer", "call", "turn"))

_FEWEST_AT_TOP_LEVEL: Final = 8
"""Ops in the whole trace; the functions of a few lines need no groups."""
_FEWEST_IN_LAYER: Final = 41
"""Ops that a layer runs itself; the functions of fewer need no groups."""

Mask = npt.NDArray[np.bool_]


class ShownScopes:
    """The scopes that are groups, and the nearest one around every other.

    A turn of a loop is a group, however few ops it has. Two kinds of turns are none: one whose body
    did not run (a ``while`` computed its condition for the last time), and those of a layer's loop
    over its layers, each of which says more with its own name. A call of a function is a group
    where there is much to divide, and where it is not all there is around it.

    Parameters
    ----------
    record
        The trace.
    scope_of_op
        The scope of each op, -1 for none.
    """

    def __init__(self, record: Record, scope_of_op: Keys) -> None:
        scopes = record.scopes
        self._kind = scopes["kind"]
        self._parent = scopes["parent"]
        self._layer = scopes["layer"]
        self._scope_of_op = scope_of_op
        count = len(scopes)
        self._loop_of_turn = np.full(count, -1, np.int64)
        self._loop_of_turn[record.turns["scope"]] = record.turns["loop"]
        self._paths = record.layers["path"]
        self._texts = record.strings
        self.is_shown: Mask = self._has_ops()
        """One entry a scope."""
        is_turn, is_call = self._kind == _TURN, self._kind == _CALL
        self.is_shown &= ~(is_turn & (self._loop_of_turn < 0))
        if is_turn.any():
            self._hide_turns_of_layers()
        if is_call.any():
            self._hide_calls()
        self.nearest: Keys = np.append(nearest_marked(self._parent, self.is_shown), -1)
        """The group of each scope: itself or the nearest around it, -1 for none. The last entry is
        that of no scope."""

    def _has_ops(self) -> Mask:
        found = np.zeros(len(self._kind) + 1, np.bool_)
        frontier = np.unique(self._scope_of_op[self._scope_of_op >= 0])
        while len(frontier):
            found[frontier] = True
            above = self._parent[frontier]
            frontier = np.unique(above[(above >= 0) & ~found[above]])
        return found[:-1]

    def _items(self) -> tuple[Any, Any, Keys]:
        """Return how many ops and groups are right inside each group, and the group of each scope.

        The last entry is the top level, that of no scope.
        """
        count = len(self._kind)
        nearest = np.append(nearest_marked(self._parent, self.is_shown), -1)
        around = nearest[self._parent]
        ops = np.bincount(nearest[self._scope_of_op] + 1, minlength=count + 1)
        groups = np.bincount(around[self.is_shown] + 1, minlength=count + 1)
        return np.roll(ops, -1), np.roll(groups, -1), around

    def _hide_turns_of_layers(self) -> None:
        ops, groups, around = self._items()
        turns = np.flatnonzero(self.is_shown & (self._kind == _TURN))
        # The only thing in each turn, where there is one.
        only = np.full(len(self._kind) + 1, -1, np.int64)
        shown = np.flatnonzero(self.is_shown)
        only[around[shown]] = shown
        is_single = (ops[turns] == 0) & (groups[turns] == 1)
        inside = np.where(is_single, only[turns], -1)
        layer = np.where((inside >= 0) & (self._kind[inside] == _LAYER), self._layer[inside], -1)
        in_layer = nearest_marked(self._parent, self._kind == _LAYER)[turns] >= 0
        loops: dict[tuple[int, int], list[int]] = {}
        owner, loop = around[turns].tolist(), self._loop_of_turn[turns].tolist()
        for at, key in enumerate(zip(owner, loop, strict=True)):
            loops.setdefault(key, []).append(at)
        for members in loops.values():
            run = layer[members].tolist()
            is_over_layers = in_layer[members[0]] and -1 not in run and len(set(run)) == len(run)
            if is_over_layers and (len(run) > 1 or self._is_member_of_list(run[0])):
                self.is_shown[turns[members]] = False

    def _is_member_of_list(self, layer: int) -> bool:
        return self._texts[int(self._paths[layer])].rpartition(".")[2].isdigit()

    def _hide_calls(self) -> None:
        is_call = self._kind == _CALL
        # Layers, regions and their like: what is neither a call nor a turn.
        is_other = ~is_call & (self._kind != _TURN)
        container = np.append(nearest_marked(self._parent, is_other), -1)
        run = np.bincount(container[self._scope_of_op] + 1, minlength=len(self._kind) + 1)
        fewest = np.full(len(run), _FEWEST_IN_LAYER)
        fewest[0] = _FEWEST_AT_TOP_LEVEL
        # At the top level all ops count, those in layers too.
        run[0] = len(self._scope_of_op)
        is_divided = run >= fewest
        self.is_shown &= ~(is_call & ~is_divided[container[:-1] + 1])
        # From the innermost outward: a call that is no group leaves its items to the one around it.
        for rows in reversed(levels(depths(self._parent))):
            calls = rows[is_call[rows] & self.is_shown[rows]]
            if not len(calls):
                continue
            ops, groups, around = self._items()
            items = ops + groups
            is_alone = items[around[calls]] == 1
            self.is_shown[calls[(items[calls] < 2) | is_alone]] = False
