"""Changes of saved tensors that Paddle does not notice: the version stays, and nothing raises."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

import numpy as np

from paddle_lab.analysis.findings.facts import Event, Facts
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.findings.saved.saved_tensors import Storages, saved_tensors
from paddle_lab.analysis.source.stacks import stack_of

# A grad node of such an op needs an input only for the gradients of the other inputs.
_PRODUCTS = frozenset(
    ("matmul", "linear", "multiply", "bmm", "mv", "dot", "conv2d", "depthwise_conv2d", "conv3d",
     "conv2d_transpose", "conv3d_transpose", "depthwise_conv2d_transpose", "kron", "outer")
)  # fmt: skip


class Write(NamedTuple):
    """A write to a tensor that did not change the tensor's version."""

    place: Place
    """The user's line that wrote."""
    op: int
    """The optimizer's op that wrote, -1 if no op did."""
    tensor: int


def silent_changes(facts: Facts) -> Iterator[tuple[Write, int]]:
    """Yield the writes to saved tensors that Paddle does not notice, one for each line.

    Each write comes with the grad node that saved the tensor. A write counts only if a successful
    backward call ran the node afterwards.
    """
    calls = [call for call in facts.user_backward_calls if not facts.backward_error(call)]
    members = facts.record.backward_members
    made_by = facts.record.grad_nodes["op"][members["grad_node"]]
    # The grad nodes that an op made, sorted by backward call.
    counts = np.isin(members["backward_call"], calls) & (made_by >= 0)
    called, starts = np.unique(members["backward_call"][counts], return_index=True)
    before = facts.record.backward_calls["ops_before"][called]
    first_op = np.minimum.reduceat(made_by[counts], starts) if len(starts) else called
    named: set[Place] = set()
    moments: list[tuple[int, list[int], Event | None]] = [
        *((ops[0], ops, None) for ops in facts.step_ops),
        *((one.ops_before, [], one) for one in facts.events("overwritten") if one.tensor >= 0),
    ]
    # A write matters only after the first op of a graph and before the graph's backward call.
    positions = np.array([position for position, *_ in moments], np.int64)
    is_step = np.array([event is None for *_, event in moments], np.int64)
    by_first = np.argsort(first_op)
    latest = np.append(-1, np.maximum.accumulate(before[by_first]))
    is_inside = latest[np.searchsorted(first_op[by_first], positions)] >= positions + is_step
    for position, ops, event in compress(moments, is_inside.tolist()):
        # If no op ran between a write and a backward call, their lines tell which came first.
        is_waiting = (before > position) | ((before == position) & (event is not None))
        waiting = {
            node
            for call in called[is_waiting & (first_op < position)].tolist()
            if facts.ops_before(call) > position or _is_line_before(facts, event, call)
            for node in facts.nodes_of_call(call)
            if 0 <= facts.op_of_node(node) < position
        }
        if not waiting:
            continue
        storages = facts.answer(Storages)
        saved: dict[int, int] = {}
        for node in sorted(waiting):
            op = facts.op_of_node(node)
            for tensor in saved_tensors(facts, op):
                if _is_needed(facts, op, tensor):
                    saved.setdefault(storages.root(tensor), node)
        writes = [Write(facts.place(op), op, one) for op in ops for one in facts.outputs(op)]
        if event is not None:
            writes = [Write(facts.place_of_stack(event.stack), -1, event.tensor)]
        for write in writes:
            found = saved.get(storages.root(write.tensor))
            if found is not None and write.place not in named:
                named.add(write.place)
                yield write, found


def _is_needed(facts: Facts, op: int, tensor: int) -> bool:
    """Tell whether an op's grad node uses the values of a saved tensor to compute a gradient."""
    if facts.op_name(op) not in _PRODUCTS:
        return True
    return any(facts.needs_grad(other) for other in facts.inputs(op) if other != tensor)


def _is_line_before(facts: Facts, event: Event | None, call: int) -> bool:
    """Compare a write and a call by their lines in the innermost function that both have.

    Return whether the write is on the earlier line.
    """
    stacks = event.stack if event else -1, int(facts.record.backward_calls["stack"][call])
    frames, others = (reversed(stack_of(facts.record, one)) for one in stacks)
    for frame, later in zip(frames, others, strict=False):
        if frame.key != later.key:
            is_shared = (frame.file, frame.function) == (later.file, later.function)
            return is_shared and 0 < frame.line < later.line
    return False
