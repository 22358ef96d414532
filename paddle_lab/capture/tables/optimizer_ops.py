"""The parameters, gradients and states that optimizer ops read; and the ends of optimizer steps."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from paddle_lab.capture.recorder.recorder import INPUT, OPTIMIZER_STEP
from paddle_lab.capture.recorder.thread_state import OPTIMIZER
from paddle_lab.capture.tables.row_keys import Rows
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import SCOPE_KINDS
from paddle_lab.trace.table import Table
from paddle_lab.trace.trees import nearest_marked, taken

IN_PLACE_OF_PARAMETER, IN_PLACE_OF_GRADIENT, IN_OTHER_PLACE = range(3)

# All other optimizer ops have the gradient directly after the parameter.
_GRADIENT_SLOTS = {"sgd_": 2}


class OptimizerReads(NamedTuple):
    """Reads of ops that may be optimizer updates; int64 arrays of shape ``[reads]``."""

    op: Rows
    tensor: Rows
    place: Rows
    """The role of the tensor: parameter, gradient, or another one, such as the learning rate or an
    optimizer state."""

    def pairs(self) -> tuple[Rows, Rows]:
        """Return pairs of tensors: one read as a parameter, the other as its gradient."""
        parameter, gradient = (
            self._numbered(place) for place in (IN_PLACE_OF_PARAMETER, IN_PLACE_OF_GRADIENT)
        )
        _, first, second = np.intersect1d(
            parameter[0], gradient[0], assume_unique=True, return_indices=True
        )
        return parameter[1][first], gradient[1][second]

    def _numbered(self, place: int) -> tuple[Rows, Rows]:
        """Return the tensors read at a position, and for each the number of its pair."""
        is_there = self.place == place
        op, tensor = self.op[is_there], self.tensor[is_there]
        order = np.argsort(op, kind="stable")
        op, tensor = op[order], tensor[order]
        which = np.arange(len(op)) - np.searchsorted(op, op)
        return op * (len(self.op) + 1) + which, tensor


def optimizer_reads(tables: dict[str, Table], strings: list[str]) -> OptimizerReads:
    """Return the reads of ops that may be optimizer updates, in the order of ``uses``."""
    ops, uses = tables["ops"], tables["uses"]
    is_optimizers = ops["phase"] == OPTIMIZER
    gradient_slots = np.ones(len(ops), np.int64)
    for name in np.unique(ops["name"][is_optimizers]).tolist():
        gradient_slots[ops["name"] == name] = _GRADIENT_SLOTS.get(strings[name], 1)
    is_read = (uses["role"] == INPUT) & is_optimizers[uses["op"]]
    op, tensor, slot = (
        uses[column][is_read].astype(np.int64) for column in ("op", "tensor", "slot")
    )
    place = np.full(len(op), IN_OTHER_PLACE, np.int64)
    place[slot == 0] = IN_PLACE_OF_PARAMETER
    place[slot == gradient_slots[op]] = IN_PLACE_OF_GRADIENT
    return OptimizerReads(op, tensor, place)


def optimizer_steps(record: Record) -> list[tuple[int, int]]:
    """Return when each optimizer step ended, and the scope of the step, sorted by time.

    A step ends with its last op. A step without ops is left out.

    Returns
    -------
    list of (int, int)
        Nanoseconds since the trace began, row of ``scopes``.
    """
    scopes, ops = record.scopes, record.ops
    step_of = np.where(scopes["kind"] == OPTIMIZER_STEP, np.arange(len(scopes)), -1).tolist()
    for scope, parent in enumerate(scopes["parent"].tolist()):
        if 0 <= parent < scope and step_of[parent] >= 0:
            step_of[scope] = step_of[parent]
    step = np.array([*step_of, -1], np.int64)[ops["scope"]]  # an op without a scope has -1
    is_inside = step >= 0
    step = step[is_inside]
    end_ns = np.zeros(len(scopes), np.int64)
    np.maximum.at(end_ns, step, (ops["start_ns"] + ops["duration_ns"])[is_inside])
    steps = np.unique(step)
    return sorted(zip(end_ns[steps].tolist(), steps.tolist(), strict=True))


def training_steps(record: Record, steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ends of training steps, from the ends of optimizer steps.

    In an iteration of a loop, the steps of several optimizers are one training step. If one of them
    makes several steps in an inner loop, such as that of a GAN's discriminator, these belong to it.
    """
    if any(scope < 0 for _, scope in steps):
        return steps  # a limited trace does not know the loops of steps that it dropped
    parent, kind = record.scopes["parent"], record.scopes["kind"]
    turn = nearest_marked(parent, kind == SCOPE_KINDS.index("turn"))
    outer, innermost = taken(turn, parent).tolist(), turn.tolist()

    def by_scope(table: Table, name: str) -> dict[int, int]:
        return dict(zip(table["scope"].tolist(), table[name].tolist(), strict=True))

    loop, stack = by_scope(record.turns, "loop"), by_scope(record.ops, "stack")
    optimizer = by_scope(record.tables["optimizer_steps"], "number")
    direct: dict[int, set[int]] = defaultdict(set)
    for _, scope in steps:
        direct[loop.get(innermost[scope], -2)].add(optimizer.get(scope, -1))
    ends: list[tuple[int, int]] = []
    last, places = -1, set[tuple[int, int]]()
    for time_ns, scope in steps:
        place = optimizer.get(scope, -1), stack.get(scope, -1)
        whole = around = own = innermost[scope]
        while around >= 0:
            whole = around if direct[loop.get(around, -1)] - {place[0]} else whole
            around = outer[around]
        # A second step from the same place belongs to an unknown loop, such as a library's.
        if whole < 0 or whole != last or (whole == own and place in places):
            places.clear()
        else:
            del ends[-1]
        ends.append((time_ns, scope))
        places.add(place)
        last = whole
    return ends if len(ends) > 3 else steps  # growth needs four steps
