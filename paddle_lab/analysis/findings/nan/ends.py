"""Finds where NaN and Inf ended up, such as in a loss or a parameter, and on which path."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import BUFFER, OPTIMIZER, PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Mark
from paddle_lab.analysis.findings.nan.bad_gradients import bad_gradients
from paddle_lab.analysis.findings.nan.sources import Flow, Source
from paddle_lab.trace.schema import ROLES

_OUTPUT = ROLES.index("output")
# These ops test for NaN or Inf. A value that only they read has not spread.
_OBSERVERS = frozenset(("isnan", "isinf", "isfinite"))
_MOST_MARKS = 2_000


def note_reach(flow: Flow) -> None:
    """Note for each source what its NaN or Inf reached in the forward."""
    facts = flow.facts
    losses, is_end = facts.answer(_loss_tensors), facts.answer(_ends)
    for tensor in flow.numbers.bad_tensors:
        nan_of, inf_of = flow.nan_of.get(tensor, ()), flow.inf_of.get(tensor, ())
        producer, kind = facts.producer(tensor), facts.tensor_kind(tensor)
        reached = {"loss"} if tensor in losses else set()
        if producer >= 0 and facts.phase(producer) == OPTIMIZER and kind == PARAMETER:
            reached.add("parameter")
        for number in (*nan_of, *inf_of):
            flow.sources[number].reaches |= reached
        is_kept = is_end[tensor] or (kind == BUFFER and producer >= 0)
        for source in map(flow.sources.__getitem__, nan_of if is_kept else ()):
            # A NaN constant in the code that no op reads is intended.
            if not (source.is_meant and producer == source.op):
                source.reaches.add("end")
        for number in inf_of if is_end[tensor] else ():
            flow.sources[number].reaches.add("inf_end")


def path_marks(flow: Flow, source: Source) -> list[Mark]:
    """Return marks for a source and for its path, first to the loss and then through backward."""
    facts = flow.facts
    nodes: list[int] = []
    if source.grad_node >= 0:
        nodes = facts.answer(bad_gradients)[source.backward_call].path(source.grad_node)
    on_in_backward = [Mark("path", op=facts.op_of_node(node), grad_node=node) for node in nodes]
    if source.kind == "backward":
        origin = Mark("origin", op=source.op, grad_node=source.grad_node)
        return [origin, *on_in_backward[1:]][:_MOST_MARKS]
    number = flow.sources.index(source)
    marks = [Mark("origin", op=source.op)]
    losses = facts.answer(_loss_tensors)
    for op in flow.bad_ops:
        if op <= source.op:
            continue
        outputs = facts.outputs(op)
        if any(number in of.get(made, ()) for made in outputs for of in (flow.nan_of, flow.inf_of)):
            marks.append(Mark("path", op=op))
        if not losses.isdisjoint(outputs):
            break  # ops of later steps do not belong to this path
    return [*marks, *on_in_backward][:_MOST_MARKS]


def _loss_tensors(facts: Facts) -> frozenset[int]:
    """Return the tensors on which backward was called, if ops of the record made them.

    If there was no backward call, return tensors with one number that need a gradient and that no
    op reads.
    """
    if not facts.user_backward_calls:
        ends = filter(facts.needs_grad, np.flatnonzero(facts.answer(_ends)).tolist())
        return frozenset(tensor for tensor in ends if facts.shape(tensor) in ((), (1,)))
    roots = (node for call in facts.user_backward_calls for node in facts.roots(call))
    ops = set(map(facts.op_of_node, roots)) - {-1}
    return frozenset(tensor for op in ops for tensor in facts.outputs(op))


def _ends(facts: Facts) -> npt.NDArray[np.bool_]:
    """Return which tensors no op reads, shape ``[tensors]``."""
    uses, tensors = facts.record.uses, facts.record.tensors
    is_observed = np.isin(uses["op"], facts.ops_named(_OBSERVERS))
    read = uses["tensor"][(uses["role"] != _OUTPUT) & (uses["tensor"] >= 0) & ~is_observed]
    was_read = np.zeros(len(tensors), np.bool_)
    was_read[read] = True
    # If a detached tensor was read, the tensor that was detached also counts as read.
    for column, is_source in (("previous", True), ("detached_from", was_read.copy())):
        sources = tensors[column]
        was_read[sources[(sources >= 0) & is_source]] = True
    ends: npt.NDArray[np.bool_] = (tensors["producer"] >= 0) & ~was_read
    return ends
