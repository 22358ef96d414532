"""Facts about single ops, and columns of tables as functions of a row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.source.stacks import Frame, stack_of
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import PHASES, ROLES, SCOPE_KINDS
from paddle_lab.trace.trees import Keys, Rows, grouped, nearest_marked, rows_by

Entry = Callable[[int], int]
"""Maps a row of a table to the content of one column."""
Mask = npt.NDArray[np.bool_]


def column(table: str, name: str) -> cached_property[Entry]:
    """Return a property of `Facts` that looks up a value of a column. It uses a list, for speed."""
    return cached_property(lambda facts: facts.record.tables[table][name].tolist().__getitem__)


def text_column(table: str, name: str) -> cached_property[Callable[[int], str]]:
    """Return a property of `Facts` that looks up a text of a column."""

    def make(facts: Any) -> Callable[[int], str]:
        codes, texts = facts.record.tables[table][name].tolist(), facts.record.strings
        return lambda row: str(texts[codes[row]])

    return cached_property(make)


def rows(
    table: str, key: str, value: str = "", *, of: str, role: str = ""
) -> cached_property[Rows]:
    """Return a property of `Facts` from a row of the table ``of`` to the rows that name it.

    Parameters
    ----------
    key
        The column of ``table`` that contains the row of ``of``.
    value
        The column to return; without one, the row's number in ``table``.
    role
        For the table ``uses``: count only rows with this role and with a tensor.
    """

    def make(facts: Any) -> Rows:
        columns = facts.record.tables[table]
        keys, values = columns[key], columns[value] if value else np.arange(len(columns))
        if role:
            counts = (columns["role"] == ROLES.index(role)) & (columns["tensor"] >= 0)
            keys, values = keys[counts], values[counts]
        return rows_by(keys, values, len(facts.record.tables[of]))

    return cached_property(make)


FORWARD, BACKWARD, OPTIMIZER = range(len(PHASES))


class OpFacts:
    """Ops and scopes by key, which is the row in their table.

    Parameters
    ----------
    record
        A record with answer tables: see :func:`paddle_lab.analysis.answers.with_answers`.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.op_count = len(record.ops)
        self._places: dict[int, Place] = {}

    op_name = text_column("ops", "name")
    attributes = text_column("ops", "attributes")
    """The arguments of an op's call that are not tensors."""
    phase = column("ops", "phase")
    """:data:`FORWARD`, :data:`BACKWARD` or :data:`OPTIMIZER`."""
    stack = column("ops", "stack")
    is_pylayer = column("ops", "is_pylayer")
    """Whether an op is a call of a PyLayer."""
    inputs = rows("uses", "op", "tensor", of="ops", role="input")
    """The tensors that an op read, by slot."""
    input_slots = rows("uses", "op", "slot", of="ops", role="input")
    outputs = rows("uses", "op", "tensor", of="ops", role="output")
    results = rows("uses", "op", "tensor", of="ops", role="result")
    """The tensors that the ops inside a PyLayer passed to the PyLayer's op."""

    layer_path = text_column("layers", "path")

    def have(self, role: str, is_wanted: Mask) -> Mask:
        """Return which ops have a marked tensor as input or output (``role``), shape ``[ops]``."""
        uses = self.record.uses
        found = np.zeros(self.op_count, np.bool_)
        counts = (uses["role"] == ROLES.index(role)) & (uses["op"] >= 0)
        counts &= np.append(is_wanted, False)[uses["tensor"]]
        found[uses["op"][counts]] = True
        return found

    @cached_property
    def _ops_of_names(self) -> dict[str, npt.NDArray[np.intp]]:
        names = self.record.ops["name"]
        return {
            self.record.text(code): np.flatnonzero(names == code)
            for code in np.unique(names).tolist()
        }

    def is_named(self, names: Collection[str]) -> Mask:
        """Return which ops have one of these names, shape ``[ops]``."""
        found = np.zeros(self.op_count, np.bool_)
        for name, ops in self._ops_of_names.items():
            if name in names:
                found[ops] = True
        return found

    def ops_named(self, names: Collection[str]) -> list[int]:
        """Return the ops that have one of these names, in order."""
        found: list[int] = np.flatnonzero(self.is_named(names)).tolist()
        return found

    # -- the user's lines ---------------------------------------------------------------------

    def place(self, op: int) -> Place:
        """Return the innermost line of the user's code that called an op."""
        return self.place_of_stack(self.stack(op))

    def function(self, stack: int) -> str:
        """Return the user's innermost function in a stack; ``"<module>"`` outside of functions."""
        frame = int(self.record.stack_frames["frame"][stack]) if stack >= 0 else -1
        return Frame(self.record, frame).function if frame >= 0 else "<module>"

    def place_of_stack(self, stack: int) -> Place:
        """Return the innermost line of the user's code in a stack."""
        if stack not in self._places:
            frame = int(self.record.stack_frames["frame"][stack]) if stack >= 0 else -1
            self._places[stack] = Place.of(Frame(self.record, frame) if frame >= 0 else None)
        return self._places[stack]

    def model_place(self, op: int) -> Place:
        """Return the line of the user's code that called the outermost layer around an op.

        For an op outside of layers, return the same as :meth:`place`.
        """
        frames = stack_of(self.record, self.stack(op))
        for caller, callee in zip(reversed(frames), reversed(frames[:-1]), strict=False):
            is_layer_call = callee.function in ("Layer.__call__", "__call__")
            if caller.kind == "user" and callee.kind == "paddle" and is_layer_call:
                return Place.of(caller)
        return self.place(op)

    # -- scopes -------------------------------------------------------------------------------

    def scopes_around(self, scope: int) -> Iterator[int]:
        """Yield a scope and its parents, the innermost first. For -1 yield nothing."""
        while scope >= 0:
            yield scope
            scope = int(self.record.scopes["parent"][scope])

    def pylayer_op(self, scope: int) -> int:
        """Return the PyLayer op whose call opened a scope; -1 if no PyLayer did."""
        return int(self.record.scopes["op"][scope]) if scope >= 0 else -1

    @cached_property
    def are_in_pylayer(self) -> Mask:
        """Whether each op runs inside a PyLayer. A PyLayer has one grad node for all its ops."""
        found: Mask = self._outermost("pylayer")[self.record.ops["scope"]] >= 0
        own = self.record.scopes["op"]
        found[own[own >= 0]] = False
        return found

    @cached_property
    def is_in_pylayer(self) -> Entry:
        """Whether an op runs inside a PyLayer."""
        is_inside: list[int] = self.are_in_pylayer.tolist()
        return is_inside.__getitem__

    @cached_property
    def layer_calls(self) -> Keys:
        """For each scope: the outermost layer call around it, or -1. The last entry is -1."""
        return self._outermost("layer")

    @cached_property
    def step_ops(self) -> list[list[int]]:
        """The ops of each optimizer step, by time."""
        step_of_op = self._outermost("optimizer")[self.record.ops["scope"]]
        return sorted(ops.tolist() for ops in grouped(step_of_op).values())

    @cached_property
    def step_ends(self) -> list[int]:
        """For each optimizer step, by time: how many ops had been called when the step ended."""
        return [ops[-1] + 1 for ops in self.step_ops]

    def _outermost(self, kind: str) -> Keys:
        parent = self.record.scopes["parent"]
        is_kind = self.record.scopes["kind"] == SCOPE_KINDS.index(kind)
        above = np.append(nearest_marked(parent, is_kind), -1)[parent]
        return np.append(nearest_marked(parent, is_kind & (above < 0)), np.int32(-1))
