"""Returns values that are computed again, for :meth:`paddle_lab.Trace.value` and ``gradient``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_lab.trace.floats import from_bits
from paddle_lab.trace.schema import BACKWARD_KINDS, ROLES
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.replay.values import Replay
    from paddle_lab.trace.record import Record


_INPUT, _OUTPUT = ROLES.index("input"), ROLES.index("output")


class ReplayError(RuntimeError):
    """A value of a trace cannot be computed again. The message gives the reason."""


class ReplayedArray(np.ndarray[Any, Any]):
    """A value that was computed again, as a NumPy array."""

    check: str = ""
    """A sentence that says with what the value was compared."""

    def __array_finalize__(self, source: Any) -> None:
        self.check = getattr(source, "check", "")


def replayed_value(
    record: Record, replay: Replay | None, op: int, output: int, run: int
) -> ReplayedArray:
    """Return an op's output, computed again; see :meth:`paddle_lab.Trace.value`."""
    inside = _place_inside(record, "ops", op)
    if inside is None and run:
        raise IndexError(run)
    if replay is None:
        raise ReplayError(say("replay.again"))
    from paddle_lab.capture.replay.calls import Irreplayable

    try:
        if inside is None:
            array, compared = replay.value(op, output)
        else:
            array, compared = replay.inside(inside[0], run, (inside[1], output))
    except Irreplayable as reason:
        raise ReplayError(str(reason)) from None
    found = array.view(ReplayedArray)
    has_statistics = inside is None and _agrees(record, op, output, array)
    if compared:
        found.check = say("replay.compared", n=compared)
    else:
        found.check = say("replay.statistics" if has_statistics else "replay.unverified")
    return found


def _place_inside(record: Record, table: str, key: int) -> tuple[int, int] | None:
    """Return the compiled program of an op that only pictures have, and the op's place in it.

    A picture has the ops of programs after its own, in the order of the programs.
    """
    own, programs = len(record.tables[table]), record.programs
    if 0 <= key < own:
        return None
    at = key - own
    for number in record.program_texts["program"].tolist() if at >= 0 else ():
        (row, *_) = np.flatnonzero(programs["program"] == number)
        count = programs["ops" if table == "ops" else "backward_ops"][row]
        if table != "ops" and programs["op"][row] not in record.grad_nodes["op"]:
            count = 0
        if at < count:
            return number, at
        at -= count
    raise IndexError(key)


def replayed_gradient(
    record: Record, replay: Replay | None, node: int, output: int, call: int | None
) -> ReplayedArray:
    """Return the gradient that a grad node gets; see :meth:`paddle_lab.Trace.gradient`."""
    nodes, calls = record.grad_nodes, record.backward_members
    inside, of = _place_inside(record, "grad_nodes", node), np.array([node])
    if inside is not None:
        ran_by = record.programs["op"][record.programs["program"] == inside[0]]
        of = np.flatnonzero(np.isin(nodes["op"], ran_by))
    ran = calls["backward_call"][np.isin(calls["grad_node"], of)].tolist()
    if replay is None:
        raise ReplayError(say("replay.again"))
    if call is None and ran:
        call = min(ran)
    if call is None or call not in ran or BACKWARD_KINDS[_kind(record, call)] == "remaining":
        raise ReplayError(say("replay.no_gradient"))
    from paddle_lab.capture.replay.calls import Irreplayable

    try:
        if inside is None:
            array = replay.gradient(call, *_given_to(record, node, output))
        else:
            array = replay.gradient_inside(call, inside[0], (inside[1], output))
    except Irreplayable as reason:
        raise ReplayError(str(reason)) from None
    found = array.view(ReplayedArray)
    found.check = say("replay.unverified")
    return found


def _given_to(record: Record, node: int, output: int) -> tuple[int, int, bool]:
    """Return the op and the tensor whose gradient a grad node gets, and whether it is a leaf."""
    nodes, uses, tensor = record.grad_nodes, record.uses, output
    op, leaf = int(nodes["op"][node]), int(nodes["parameter"][node])
    is_leaf = op < 0
    if is_leaf:
        reading = np.flatnonzero((uses["tensor"] == leaf) & (uses["role"] == _INPUT))
        if leaf < 0 or not len(reading):
            raise ReplayError(say("replay.boundary"))
        op = int(uses["op"][reading[0]])
        of_op = np.flatnonzero((uses["op"] == op) & (uses["role"] == _INPUT))
        tensor = of_op.tolist().index(reading[0])
    return op, tensor, is_leaf


def _kind(record: Record, call: int) -> int:
    return int(record.backward_calls["kind"][call])


def _agrees(record: Record, op: int, output: int, array: np.ndarray[Any, Any]) -> bool:
    """Compare a value with its recorded shape and statistics.

    Return whether there were statistics.

    Raises
    ------
    ReplayError
        If the value differs from the record.
    """
    uses = record.uses
    of_op = (uses["op"] == op) & (uses["role"] == _OUTPUT)
    tensor = int(uses["tensor"][of_op][output])
    is_same = record.text(int(record.tensors["shape"][tensor])) == str(list(array.shape))
    rows = np.flatnonzero(record.value_stats["tensor"] == tensor)
    if len(rows) and array.dtype.kind == "f":
        stats, row = record.value_stats, rows[0]
        finite = array[np.isfinite(array)].astype(np.float32)
        ends = (finite.min(), finite.max()) if finite.size else (0, 0)
        is_same &= ends == tuple(from_bits(stats[name])[row] for name in ("smallest", "largest"))
        is_same &= int(np.isnan(array).sum()) == stats["nans"][row]
        is_same &= int((array == 0).sum()) == stats["zeros"][row]
    if not is_same:
        raise ReplayError(say("replay.differs"))
    return len(rows) > 0
