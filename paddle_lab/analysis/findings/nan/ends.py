"""How far NaN and Inf came in forward: to a loss, into a parameter, to where nothing reads on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.facts import BUFFER, OPTIMIZER, PARAMETER, Facts
from paddle_lab.analysis.findings.nan.sources import Flow
from paddle_lab.trace.schema import ROLES

_OUTPUT = ROLES.index("output")
# They ask whether there is NaN: what was only asked went no further.
_OBSERVERS = frozenset(("isnan", "isinf", "isfinite"))


def note_reach(flow: Flow) -> None:
    """Note for each source how far what began there came in forward."""
    facts = flow.facts
    losses = loss_tensors(facts)
    is_end = _ends(facts)
    tensors = facts.record.tensors
    for tensor in flow.numbers.bad_tensors:
        nan_of, inf_of = flow.nan_of.get(tensor, ()), flow.inf_of.get(tensor, ())
        producer = int(tensors["producer"][tensor])
        reached = {"loss"} if tensor in losses else set()
        if producer >= 0 and facts.phase(producer) == OPTIMIZER:
            reached |= {"parameter"} if facts.tensor_kind(tensor) == PARAMETER else set()
        for number in (*nan_of, *inf_of):
            flow.sources[number].reaches |= reached
        is_kept = is_end[tensor] or (facts.tensor_kind(tensor) == BUFFER and producer >= 0)
        for number in nan_of if is_kept else ():
            source = flow.sources[number]
            # A constant that was only kept is what somebody wanted.
            source.reaches |= set() if source.is_meant and producer == source.op else {"end"}
        for number in inf_of if is_end[tensor] else ():
            flow.sources[number].reaches |= {"inf_end"}


def loss_tensors(facts: Facts) -> frozenset[int]:
    """Return what backward calls began with, as far as ops of the record made it.

    Where there is no backward call: single numbers that no op reads, if they need gradients.
    """
    record = facts.record
    if not facts.user_backward_calls:
        is_end = _ends(facts)
        return frozenset(
            tensor
            for tensor in np.flatnonzero(is_end).tolist()
            if facts.needs_grad(tensor) and facts.shape(tensor) in ((), (1,))
        )
    is_users = np.isin(record.grad_roots["backward_call"], facts.user_backward_calls)
    nodes = record.grad_roots["grad_node"][is_users]
    ops = set(record.grad_nodes["op"][nodes].tolist()) - {-1}
    return frozenset(tensor for op in ops for tensor in facts.outputs(op))


def _ends(facts: Facts) -> npt.NDArray[np.bool_]:
    """Return which tensors no op reads any more, shape ``[tensors]``."""
    record = facts.record
    uses, tensors = record.uses, record.tensors
    names = [name for name in set(record.ops["name"].tolist()) if record.text(name) in _OBSERVERS]
    observers = np.flatnonzero(np.isin(record.ops["name"], names))
    is_read = (uses["role"] != _OUTPUT) & (uses["tensor"] >= 0)
    is_read &= ~np.isin(uses["op"], observers)
    ends = tensors["producer"] >= 0
    ends[uses["tensor"][is_read]] = False
    followed = tensors["previous"]
    ends[followed[followed >= 0]] = False
    # If a detached tensor was read, the tensor that it was detached from counts as read.
    is_detached = tensors["detached_from"] >= 0
    was_read = np.zeros(len(tensors), np.bool_)
    was_read[uses["tensor"][is_read]] = True
    ends[tensors["detached_from"][is_detached & was_read]] = False
    result: npt.NDArray[np.bool_] = ends
    return result
