"""What checks ask a record, answered once."""

from __future__ import annotations

from functools import cached_property, lru_cache

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


class Facts:
    """A record with answer tables, and indexes over it that checks share.

    Ops, tensors and grad nodes are keys: rows of the record's tables.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    # -- ops and tensors ----------------------------------------------------------------------

    @property
    def op_count(self) -> int:
        """How many ops there are."""
        return len(self.record.ops)

    def op_name(self, op: int) -> str:
        """Return Paddle's name of an op."""
        return self.record.text(int(self.record.ops["name"][op]))

    def attributes(self, op: int) -> str:
        """Return the arguments of an op's call that were no tensors, as text."""
        return self.record.text(int(self.record.ops["attributes"][op]))

    def phase(self, op: int) -> int:
        """Return :data:`FORWARD`, :data:`BACKWARD` or :data:`OPTIMIZER`."""
        return int(self.record.ops["phase"][op])

    def inputs(self, op: int) -> list[int]:
        """Return the tensors that an op read, by slot."""
        return self._used(op, _INPUT)

    def outputs(self, op: int) -> list[int]:
        """Return the tensors that an op made."""
        return self._used(op, _OUTPUT)

    def results(self, op: int) -> list[int]:
        """Return the tensors that a PyLayer's own ops handed to its op."""
        return self._used(op, _RESULT)

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

    def _used(self, op: int, role: int) -> list[int]:
        starts, order = self._uses
        rows = order[starts[op] : starts[op + 1]].tolist()
        roles, tensors = self.record.uses["role"], self.record.uses["tensor"]
        return [int(tensors[row]) for row in rows if roles[row] == role and tensors[row] >= 0]

    @cached_property
    def _uses(self) -> tuple[Keys, Keys]:
        return csr(self.record.uses["op"], self.op_count)

    def consumers(self, tensor: int) -> list[int]:
        """Return the ops that read a tensor's value, in order."""
        starts, order = self._consumers
        rows = order[starts[tensor] : starts[tensor + 1]].tolist()
        uses = self.record.uses
        return [int(uses["op"][row]) for row in rows if uses["role"][row] == _INPUT]

    @cached_property
    def _consumers(self) -> tuple[Keys, Keys]:
        return csr(self.record.uses["tensor"], len(self.record.tensors))

    def producer(self, tensor: int) -> int:
        """Return the op that made a tensor's value, -1 for data and what no op made."""
        return int(self.record.tensors["producer"][tensor])

    def tensor_kind(self, tensor: int) -> int:
        """Return :data:`ACTIVATION`, :data:`PARAMETER`, …."""
        return int(self.record.tensors["kind"][tensor])

    def needs_grad(self, tensor: int) -> bool:
        """Tell whether gradients are to reach a tensor: ``not stop_gradient``."""
        return not self.record.tensors["stop_gradient"][tensor]

    def shape(self, tensor: int) -> tuple[int, ...]:
        """Return a tensor's shape."""
        return _shape(self.record.text(int(self.record.tensors["shape"][tensor])))

    def dtype(self, tensor: int) -> str:
        """Return a tensor's dtype: ``"float32"``."""
        return self.record.text(int(self.record.tensors["dtype"][tensor]))

    def path(self, tensor: int) -> str:
        """Return a parameter's path in its model, ``""`` where it has none."""
        return self.record.text(int(self.record.tensors["path"][tensor]))

    def first_value(self, tensor: int) -> int:
        """Return the tensor's value before it was first modified in place."""
        return self._first_values[tensor]

    @cached_property
    def _first_values(self) -> list[int]:
        previous = self.record.tensors["previous"]
        first: list[int] = nearest_marked(previous, previous < 0).tolist()
        return first

    def is_parameter_fed(self, tensor: int) -> bool:
        """Tell whether a tensor is a parameter, or was computed from any."""
        if self.tensor_kind(tensor) == PARAMETER:
            return True
        producer = self.producer(tensor)
        return producer >= 0 and bool(self._fed_ops[producer])

    @cached_property
    def _fed_ops(self) -> npt.NDArray[np.bool_]:
        fed = np.zeros(self.op_count, np.bool_)
        edges = self.record.op_edges
        sources: dict[int, list[int]] = {}
        for source, target in zip(edges["source"].tolist(), edges["target"].tolist(), strict=True):
            sources.setdefault(target, []).append(source)
        for op in range(self.op_count):  # an op reads what ops before it made
            fed[op] = any(self.tensor_kind(tensor) == PARAMETER for tensor in self.inputs(op)) or (
                any(fed[source] for source in sources.get(op, ()))
            )
        return fed

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
        return self.record.text(int(self.record.grad_nodes["name"][node]))

    def op_of_node(self, node: int) -> int:
        """Return the op that made a grad node, -1 where none did."""
        return int(self.record.grad_nodes["op"][node])

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
        for scope, parent in enumerate(parents.tolist()):
            if 0 <= parent < scope and step[parent] >= 0:
                step[scope] = step[parent]
        ops: dict[int, list[int]] = {}
        for op, scope in enumerate(self.record.ops["scope"].tolist()):
            if scope >= 0 and step[scope] >= 0:
                ops.setdefault(int(step[scope]), []).append(op)
        return sorted(ops.values())

    # -- places -------------------------------------------------------------------------------

    def place(self, op: int) -> Place:
        """Return the innermost line of the user's that called an op."""
        return self.place_of_stack(int(self.record.ops["stack"][op]))

    def place_of_stack(self, stack: int) -> Place:
        """Return the innermost line of the user's in a stack."""
        frame = int(self._stack_frames[stack]) if stack >= 0 else -1
        return Place.of(Frame(self.record, frame) if frame >= 0 else None)

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
def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.strip("[]").split(",") if size.strip())
