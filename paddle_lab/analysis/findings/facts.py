"""What checks ask a record, answered once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.pairing import grad_nodes_of_ops
from paddle_lab.analysis.stacks import Frame, stack_of
from paddle_lab.analysis.trees import Keys, csr, nearest_marked
from paddle_lab.analysis.user_frames import stack_frames
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import (
    BACKWARD_KINDS,
    EVENT_KINDS,
    PHASES,
    ROLES,
    SCOPE_KINDS,
    TENSOR_KINDS,
)

FORWARD, BACKWARD, OPTIMIZER = range(len(PHASES))
ACTIVATION, PARAMETER, BUFFER, GRADIENT, EXTERNAL = range(len(TENSOR_KINDS))
_INPUT, _OUTPUT, _RESULT = (ROLES.index(role) for role in ("input", "output", "result"))
_REMAINING = BACKWARD_KINDS.index("remaining")


_Slices = tuple[list[int], list[int]]
"""Where the values of each row start, and all values."""


class Facts:
    """A record with answer tables, and indexes over it that checks share.

    Ops, tensors and grad nodes are keys: rows of the record's tables.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self._places: dict[int, Place] = {}
        self._columns: dict[tuple[str, str], list[int]] = {}

    # -- ops and tensors ----------------------------------------------------------------------

    @property
    def op_count(self) -> int:
        """How many ops there are."""
        return len(self.record.ops)

    def op_name(self, op: int) -> str:
        """Return Paddle's name of an op."""
        return self.record.strings[self._op_names[op]]

    @cached_property
    def _op_names(self) -> list[int]:
        return self.column("ops", "name")

    def ops_named(self, names: Collection[str]) -> Keys:
        """Return the ops that have one of these names, in order."""
        codes = [code for code, text in enumerate(self.record.strings) if text in names]
        return np.flatnonzero(np.isin(self.record.ops["name"], codes)).astype(np.int32)

    def attributes(self, op: int) -> str:
        """Return the arguments of an op's call that were no tensors, as text."""
        return self.record.text(int(self.record.ops["attributes"][op]))

    def phase(self, op: int) -> int:
        """Return :data:`FORWARD`, :data:`BACKWARD` or :data:`OPTIMIZER`."""
        return self._phases[op]

    @cached_property
    def _phases(self) -> list[int]:
        return self.column("ops", "phase")

    def column(self, table: str, column: str) -> list[int]:
        """Return a column of the record as a list: one entry of it costs a tenth of an array's."""
        known = self._columns.get((table, column))
        if known is None:
            known = self._columns[table, column] = self.record.tables[table][column].tolist()
        return known

    def inputs(self, op: int) -> list[int]:
        """Return the tensors that an op read, by slot."""
        starts, tensors = self._inputs
        return tensors[starts[op] : starts[op + 1]]

    def outputs(self, op: int) -> list[int]:
        """Return the tensors that an op made."""
        starts, tensors = self._outputs
        return tensors[starts[op] : starts[op + 1]]

    def results(self, op: int) -> list[int]:
        """Return the tensors that a PyLayer's own ops handed to its op."""
        starts, tensors = self._results
        return tensors[starts[op] : starts[op + 1]]

    @cached_property
    def _inputs(self) -> _Slices:
        starts, tensors = self.input_rows
        return starts.tolist(), tensors.tolist()

    @cached_property
    def _outputs(self) -> _Slices:
        starts, tensors = self.output_rows
        return starts.tolist(), tensors.tolist()

    @cached_property
    def _results(self) -> _Slices:
        starts, tensors = self._rows_used(_RESULT)
        return starts.tolist(), tensors.tolist()

    @cached_property
    def input_rows(self) -> tuple[Keys, Keys]:
        """Where the tensors that each op read start, with the end of the last, and these."""
        return self._rows_used(_INPUT)

    @cached_property
    def output_rows(self) -> tuple[Keys, Keys]:
        """Where the tensors that each op made start, with the end of the last, and these."""
        return self._rows_used(_OUTPUT)

    def _rows_used(self, role: int) -> tuple[Keys, Keys]:
        uses = self.record.uses
        is_used = (uses["role"] == role) & (uses["tensor"] >= 0)
        starts, order = csr(uses["op"][is_used], self.op_count)
        return starts, uses["tensor"][is_used][order]

    def is_pylayer(self, op: int) -> bool:
        """Tell whether an op is a call of a PyLayer."""
        return bool(self.record.ops["is_pylayer"][op])

    def slots(self, op: int, role: int) -> list[tuple[int, int]]:
        """Return slot and tensor of what an op used in one role (an index of ``ROLES``)."""
        starts, order = self._uses
        rows = order[starts[op] : starts[op + 1]].tolist()
        uses = self.record.uses
        return [
            (int(uses["slot"][row]), int(uses["tensor"][row]))
            for row in rows
            if uses["role"][row] == role
        ]

    @cached_property
    def _uses(self) -> tuple[Keys, Keys]:
        return csr(self.record.uses["op"], self.op_count)

    def consumers(self, tensor: int) -> list[int]:
        """Return the ops that read a tensor's value, in order."""
        starts, ops = self._consumers
        return ops[starts[tensor] : starts[tensor + 1]]

    @cached_property
    def _consumers(self) -> _Slices:
        uses = self.record.uses
        is_read = uses["role"] == _INPUT
        starts, order = csr(uses["tensor"][is_read], len(self.record.tensors))
        return starts.tolist(), uses["op"][is_read][order].tolist()

    def producer(self, tensor: int) -> int:
        """Return the op that made a tensor's value, -1 for data and what no op made."""
        return self._producers[tensor]

    @cached_property
    def _producers(self) -> list[int]:
        return self.column("tensors", "producer")

    def tensor_kind(self, tensor: int) -> int:
        """Return :data:`ACTIVATION`, :data:`PARAMETER`, …."""
        return self.column("tensors", "kind")[tensor]

    def needs_grad(self, tensor: int) -> bool:
        """Tell whether gradients are to reach a tensor: ``not stop_gradient``."""
        return not self._is_constant[tensor]

    @cached_property
    def _is_constant(self) -> list[int]:
        return self.column("tensors", "stop_gradient")

    def shape(self, tensor: int) -> tuple[int, ...]:
        """Return a tensor's shape."""
        return shape_of(self.record.text(self.column("tensors", "shape")[tensor]))

    def dtype(self, tensor: int) -> str:
        """Return a tensor's dtype: ``"float32"``."""
        return self.record.text(self.column("tensors", "dtype")[tensor])

    def path(self, tensor: int) -> str:
        """Return a parameter's path in its model, ``""`` where it has none."""
        return self.record.text(int(self.record.tensors["path"][tensor]))

    def first_value(self, tensor: int) -> int:
        """Return the tensor's value before it was first modified in place."""
        return self._first_values[tensor]

    def first_values(self, tensors: npt.NDArray[Any]) -> Keys:
        """Return each tensor's value before it was first modified in place."""
        first: Keys = self._first_rows[tensors]
        return first

    @cached_property
    def _first_rows(self) -> Keys:
        previous = self.record.tensors["previous"]
        return nearest_marked(previous, previous < 0)

    @cached_property
    def _first_values(self) -> list[int]:
        first: list[int] = self._first_rows.tolist()
        return first

    def is_parameter_fed(self, tensor: int) -> bool:
        """Tell whether a tensor is a parameter, or was computed from any."""
        if self.tensor_kind(tensor) == PARAMETER:
            return True
        producer = self.producer(tensor)
        return producer >= 0 and bool(self._fed_ops[producer])

    @cached_property
    def _fed_ops(self) -> npt.NDArray[np.bool_]:
        record = self.record
        uses, edges = record.uses, record.op_edges
        reads = (uses["role"] == _INPUT) & (uses["tensor"] >= 0) & (uses["op"] >= 0)
        is_parameter = record.tensors["kind"][uses["tensor"][reads]] == PARAMETER
        fed = bytearray(self.op_count)
        for op in uses["op"][reads][is_parameter].tolist():
            fed[op] = 1
        # An op reads what ops before it made.
        source, target = edges["source"], edges["target"]
        forward = np.flatnonzero(source < target)
        forward = forward[np.argsort(target[forward], kind="stable")]
        for before, op in zip(source[forward].tolist(), target[forward].tolist(), strict=True):
            if fed[before]:
                fed[op] = 1
        return np.frombuffer(fed, np.uint8).astype(np.bool_)

    @cached_property
    def living(self) -> frozenset[int]:
        """The tensors that were alive when the trace ended."""
        return frozenset(self.record.living_tensors["tensor"].tolist())

    # -- backward -----------------------------------------------------------------------------

    def grad_nodes(self, op: int) -> list[int]:
        """Return the grad nodes that an op made."""
        starts, nodes = self._paired
        found: list[int] = nodes[starts[op] : starts[op + 1]].tolist()
        return found

    @cached_property
    def _paired(self) -> tuple[Keys, Keys]:
        return grad_nodes_of_ops(self.record)

    def grad_node_name(self, node: int) -> str:
        """Return Paddle's name of a grad node: ``"PowGradNode"``."""
        return self.record.text(self.column("grad_nodes", "name")[node])

    def op_of_node(self, node: int) -> int:
        """Return the op that made a grad node, -1 where none did."""
        return self.column("grad_nodes", "op")[node]

    def backward_error(self, call: int) -> str:
        """Return the text of the exception that a backward call raised, ``""`` for none."""
        return self.record.text(int(self.record.backward_calls["error"][call]))

    def ops_before(self, call: int) -> int:
        """Return how many ops had been recorded when a backward call began."""
        return int(self.record.backward_calls["ops_before"][call])

    def nodes_of_call(self, call: int) -> list[int]:
        """Return the grad nodes of a backward call's graph."""
        starts, order = self._members
        members = self.record.backward_members["grad_node"]
        found: list[int] = members[order[starts[call] : starts[call + 1]]].tolist()
        return found

    @cached_property
    def _members(self) -> tuple[Keys, Keys]:
        members = self.record.backward_members["backward_call"]
        return csr(members, len(self.record.backward_calls))

    def roots(self, call: int) -> list[int]:
        """Return the grad nodes at which a backward call began."""
        roots = self.record.grad_roots
        found: list[int] = roots["grad_node"][roots["backward_call"] == call].tolist()
        return found

    @cached_property
    def following_nodes(self) -> dict[int, list[int]]:
        """Of each grad node, the nodes to which it hands gradients, by slot."""
        following: dict[int, list[int]] = {}
        edges = self.record.grad_edges
        for source, target in zip(edges["source"].tolist(), edges["target"].tolist(), strict=True):
            following.setdefault(source, []).append(target)
        return following

    @cached_property
    def user_backward_calls(self) -> list[int]:
        """The backward calls of the user's, in order; ``remaining`` graphs are nobody's call."""
        is_users = self.record.backward_calls["kind"] != _REMAINING
        calls: list[int] = np.flatnonzero(is_users).tolist()
        return calls

    @cached_property
    def reached_nodes(self) -> npt.NDArray[np.bool_]:
        """Whether a backward call of the user's reached a grad node, shape ``[grad_nodes]``."""
        members = self.record.backward_members
        is_users = np.isin(members["backward_call"], self.user_backward_calls)
        reached = np.zeros(len(self.record.grad_nodes), np.bool_)
        reached[members["grad_node"][is_users]] = True
        return reached

    @cached_property
    def reached_ops(self) -> npt.NDArray[np.bool_]:
        """Whether a backward call of the user's reached an op's grad node, shape ``[ops]``."""
        reached = np.zeros(self.op_count, np.bool_)
        ops = self.record.grad_nodes["op"][self.reached_nodes]
        reached[ops[ops >= 0]] = True
        return reached

    # -- events and steps -----------------------------------------------------------------------

    def events(self, kind: str) -> list[int]:
        """Return the rows of ``events`` of one kind, in order."""
        is_kind = self.record.events["kind"] == EVENT_KINDS.index(kind)
        rows: list[int] = np.flatnonzero(is_kind).tolist()
        return rows

    @cached_property
    def step_ends(self) -> list[int]:
        """How many ops had been called at the end of each optimizer step, by time."""
        return [ops[-1] + 1 for ops in self.step_ops]

    @cached_property
    def step_ops(self) -> list[list[int]]:
        """The ops of each optimizer step, by time."""
        scopes, parents = self.record.scopes["kind"], self.record.scopes["parent"]
        step = np.where(scopes == SCOPE_KINDS.index("optimizer"), np.arange(len(scopes)), -1)
        if not np.any(step >= 0):
            return []
        of_scope: list[int] = step.tolist()
        for scope, parent in enumerate(parents.tolist()):
            if 0 <= parent < scope and of_scope[parent] >= 0:
                of_scope[scope] = of_scope[parent]
        step_of_op = np.append(of_scope, -1)[self.record.ops["scope"]]
        ops: dict[int, list[int]] = {}
        for op in np.flatnonzero(step_of_op >= 0).tolist():
            ops.setdefault(int(step_of_op[op]), []).append(op)
        return sorted(ops.values())

    @cached_property
    def outermost_layer_calls(self) -> list[int]:
        """Of each scope, the outermost call of a layer around it, -1 where there is none."""
        scopes = self.record.scopes
        is_call, parent = scopes["kind"] == SCOPE_KINDS.index("layer"), scopes["parent"]
        above = np.append(nearest_marked(parent, is_call), -1)[parent]
        outermost: list[int] = nearest_marked(parent, is_call & (above < 0)).tolist()
        return outermost

    # -- places -------------------------------------------------------------------------------

    def place(self, op: int) -> Place:
        """Return the innermost line of the user's that called an op."""
        return self.place_of_stack(self.column("ops", "stack")[op])

    def place_of_stack(self, stack: int) -> Place:
        """Return the innermost line of the user's in a stack."""
        place = self._places.get(stack)
        if place is None:
            frame = int(self._stack_frames[stack]) if stack >= 0 else -1
            place = Place.of(Frame(self.record, frame) if frame >= 0 else None)
            self._places[stack] = place
        return place

    def place_of_call(self, call: int) -> Place:
        """Return the innermost line of the user's that called backward."""
        return self.place_of_stack(int(self.record.backward_calls["stack"][call]))

    def model_place(self, op: int) -> Place:
        """Return the user's line that called the outermost layer around an op.

        Outside of layers it is :meth:`place`.
        """
        frames = stack_of(self.record, int(self.record.ops["stack"][op]))
        for caller, callee in zip(reversed(frames), reversed(frames[:-1]), strict=False):
            if caller.kind == "user" and callee.kind == "paddle" and _is_layer_call(callee):
                return Place.of(caller)
        return self.place(op)

    @cached_property
    def _stack_frames(self) -> Keys:
        return stack_frames(self.record)


def _is_layer_call(frame: Frame) -> bool:
    return frame.function in ("Layer.__call__", "__call__") and frame.file.endswith("layers.py")


@lru_cache(maxsize=4096)
def shape_of(text: str) -> tuple[int, ...]:
    """Return the shape that a record writes as ``"[4, 2]"``."""
    return tuple(int(size) for size in text.strip("[]").split(",") if size.strip())
