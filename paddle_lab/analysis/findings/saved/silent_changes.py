"""Changes of saved tensors that Paddle does not count: its versions stay, and nothing raises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.saved.saved_tensors import saved_tensors
from paddle_lab.analysis.findings.saved.storages import Storages
from paddle_lab.analysis.source.stacks import stack_of

# Their grad nodes need each input only for the gradients of the others.
_PRODUCTS = frozenset(
    ("matmul", "linear", "multiply", "bmm", "mv", "dot", "conv2d", "depthwise_conv2d", "conv3d",
     "conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose", "kron", "outer")
)  # fmt: skip


class Write(NamedTuple):
    """A value that a tensor was given without its version being counted."""

    place: Place
    """The user's line that wrote."""
    op: int
    """The op of an optimizer that wrote, -1 for what is no op."""
    tensor: int
    stack: int
    position: int
    """How many ops had been called."""


def silent_changes(facts: Facts) -> Iterator[tuple[Write, int]]:
    """Yield, of each line that wrote to saved tensors, a write and the grad node that had saved it.

    They are writes without a count, before that node ran.
    """
    named: set[Place] = set()
    runs = _runs(facts)
    for writes in _moments(facts, runs):
        nodes = _waiting_nodes(facts, runs, writes[0]) if writes else []
        if not nodes:
            continue
        storages = facts.answer(Storages)
        saved: dict[int, int] = {}
        for node in nodes:
            op = facts.op_of_node(node)
            for tensor in saved_tensors(facts, op):
                if _is_needed(facts, op, tensor):
                    saved.setdefault(storages.root(tensor), node)
        for write in writes:
            found = saved.get(storages.root(write.tensor))
            if found is not None and write.place not in named:
                named.add(write.place)
                yield write, found


def _is_needed(facts: Facts, op: int, tensor: int) -> bool:
    """Tell whether an op's grad node computes anything from a value that it saved."""
    if facts.op_name(op) not in _PRODUCTS:
        return True
    return any(facts.needs_grad(other) for other in facts.inputs(op) if other != tensor)


@dataclass(frozen=True)
class _Run:
    """A backward call that succeeded: when it began, and the ops of its grad nodes."""

    before: int
    stack: int
    nodes: npt.NDArray[np.int64]
    ops: npt.NDArray[np.int64]
    first_op: int


class _Runs:
    """Backward calls that succeeded.

    Parameters
    ----------
    runs
        The calls.
    """

    def __init__(self, runs: list[_Run]) -> None:
        self._runs = sorted(runs, key=attrgetter("before"))
        self._before = np.array([run.before for run in self._runs], np.int64)
        self._first_ops = np.array([run.first_op for run in self._runs], np.int64)

    def around(self, position: int) -> list[_Run]:
        """Return the backward calls that ran after a position and whose graphs began before it."""
        start = int(np.searchsorted(self._before, position))
        has_begun = np.flatnonzero(self._first_ops[start:] < position)
        return [self._runs[run] for run in (start + has_begun).tolist()]


def _runs(facts: Facts) -> _Runs:
    ops_of_nodes = facts.record.grad_nodes["op"]
    runs = []
    for call in facts.user_backward_calls:
        nodes = np.asarray(facts.nodes_of_call(call), np.int64)
        nodes = nodes[ops_of_nodes[nodes] >= 0]
        if len(nodes) and not facts.backward_error(call):
            ops = ops_of_nodes[nodes].astype(np.int64)
            stack = int(facts.record.backward_calls["stack"][call])
            runs.append(_Run(facts.ops_before(call), stack, nodes, ops, int(ops.min())))
    return _Runs(runs)


def _waiting_nodes(facts: Facts, runs: _Runs, write: Write) -> list[int]:
    """Return the grad nodes that had been made before a write, and that a later call ran."""
    found: set[int] = set()
    for run in runs.around(write.position):
        # With no op between both, the lines tell which came first; a step begins with an op.
        if write.position < run.before or (
            write.op < 0 and _is_line_before(facts, write.stack, run.stack)
        ):
            found.update(run.nodes[run.ops < write.position].tolist())
    return sorted(found)


def _is_line_before(facts: Facts, stack: int, other: int) -> bool:
    """Tell by lines which of two stacks came first, in the innermost function that both ran in."""
    frames, others = (reversed(stack_of(facts.record, one)) for one in (stack, other))
    for frame, later in zip(frames, others, strict=False):
        if frame.key != later.key:
            is_shared = (frame.file, frame.function) == (later.file, later.function)
            return is_shared and 0 < frame.line < later.line
    return False


def _moments(facts: Facts, runs: _Runs) -> Iterator[list[Write]]:
    """Yield what each step of an optimizer wrote, and each other write without an op.

    Steps before which no later run's graph had been begun are left out, as most are.
    """
    for ops in facts.step_ops:
        # The call right before a step has ended: only what ran after the step's first op counts.
        if runs.around(ops[0] + 1):
            yield [
                Write(facts.place(op), op, tensor, facts.stack(op), ops[0])
                for op in ops
                for tensor in facts.outputs(op)
            ]
    for event in facts.events("overwritten"):
        if event.tensor >= 0:
            place = facts.place_of_stack(event.stack)
            yield [Write(place, -1, event.tensor, event.stack, event.ops_before)]
