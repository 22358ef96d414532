"""A net was validated in training mode.

Contract (``Layer.eval``): validation runs without dropout and with the running statistics of batch
norm. In training mode, validation also changes these statistics.

The check reports a net that is trained in this trace and was also called without a graph, with
active dropout or batch statistics. The result of this call must have been compared with other data;
for a classifier it is enough that the result was read.

It also reports a teacher (Hinton et al. 2015): a net that this trace does not change and whose
result, computed without a graph in training mode, is the target of a loss.

The check does not report samples of a generator, teachers that follow their student, or a pass that
computes running statistics anew. Nor does it report Monte Carlo dropout: several passes over one
input between two steps, or a Dropout layer that was itself set to ``train()``.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.facts.ops import Mask
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import LOSSES, Check, Facts, Found, Training, warning

_COMPARING = LOSSES | {"equal", "not_equal", "accuracy"}
_MOST = 64


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that called a net in training mode for validation."""
    training = facts.answer(Training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    if not calls or not training.steps:
        return
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(calls))
    scopes = facts.record.scopes["layer"]
    ops, trained = _active(training, is_used)
    classifiers = _classifiers(training, is_used)
    ends = [step.last_op for step in training.steps]
    given = Counter((_given(facts, root), bisect(ends, op)) for root, op in ops.items())
    for root, op in ops.items():
        layer = int(scopes[root])
        # Several passes over one input between two steps are Monte Carlo dropout.
        if given[_given(facts, root), bisect(ends, op)] > 1:
            continue
        is_teacher = layer not in trained and _teaches(training, root, is_used)
        by_reading = layer in classifiers
        if is_teacher:
            yield warning("validated-in-train.teacher", facts.model_place(op), op)
        elif layer in trained and _is_judged(training, op, root, is_used, by_reading=by_reading):
            yield warning("validated-in-train.found", facts.model_place(op), op)


def _teaches(training: Training, root: int, is_used: Mask) -> bool:
    """Tell whether a net that nothing changes made the target of a trained loss."""
    facts = training.facts
    own = np.flatnonzero(facts.layer_calls[facts.record.ops["scope"]] == root).tolist()
    read = {facts.first_value(one) for at in own for one in facts.inputs(at)}
    held = facts.answer(GradientCuts).trained.holders.keys()
    later = {facts.first_value(one.tensor) for one in facts.events("overwritten")
             if one.tensor >= 0 and one.ops_before > own[0]}  # fmt: skip
    if read & (held | later):
        return False
    later_ops = training.later_ops(facts.outputs(own[-1])[0], lambda op: not is_used[op], _MOST)
    judges = [op for op in later_ops if is_used[op]]
    return bool(judges) and facts.op_name(judges[0]) in LOSSES | {"subtract"}


def _active(training: Training, is_used: Mask) -> tuple[dict[int, int], set[int]]:
    """Return an active op in each call without a graph, and the layers that are trained."""
    facts = training.facts
    ops: dict[int, int] = {}
    trained: set[int] = set()
    for op in training.forward_ops("dropout", "batch_norm", "batch_norm_"):
        around = training.layers_around(op)
        if not around or around[-1] in training.evaluating:
            continue
        if is_used[op]:
            trained.add(int(facts.record.scopes["layer"][around[-1]]))
        elif _is_active(training, op) and not any(map(facts.needs_grad, facts.outputs(op))):
            ops.setdefault(around[-1], op)
    return ops, trained


def _is_active(training: Training, op: int) -> bool:
    is_off = training.attribute(op, "p") in {"0", "0.0"}
    return training.attribute(op, "is_test") == "False" and not is_off


def _classifiers(training: Training, is_used: Mask) -> set[int]:
    """Return the layers whose results a classification loss reads."""
    facts = training.facts
    own, scopes, layers = facts.layer_calls, facts.record.ops["scope"], facts.record.scopes["layer"]
    found = set()
    for op in training.forward_ops("cross_entropy_with_softmax", "bce_loss", "nll_loss"):
        maker = training.origin_op(facts.inputs(op)[0])
        root = int(own[scopes[maker]]) if maker >= 0 and is_used[op] else -1
        if root >= 0:
            found.add(int(layers[root]))
    return found


def _given(facts: Facts, root: int) -> int:
    """Return the tensor that the first op of a layer's call reads."""
    first = (facts.layer_calls[facts.record.ops["scope"]] == root).argmax()
    return next(iter(facts.inputs(int(first))), -1)


def _is_judged(training: Training, op: int, root: int, is_used: Mask, *, by_reading: bool) -> bool:
    """Tell whether a net's result was compared with data, and no backward call used it."""
    facts, own = training.facts, training.facts.layer_calls
    read = {event.tensor for event in facts.events("read")}
    later = [*training.later_ops(facts.outputs(op)[0], lambda one: not is_used[one], _MOST * 16)]

    def compares(reader: int) -> bool:
        is_outside = own[facts.record.ops["scope"][reader]] != root
        is_error = training.takes_size(reader) and not all(
            map(training.is_fed, facts.inputs(facts.producer(facts.inputs(reader)[0])))
        )
        is_read = by_reading and not read.isdisjoint(facts.outputs(reader))
        return is_read or (is_outside and (facts.op_name(reader) in _COMPARING or is_error))

    return not any(is_used[one] for one in later) and any(map(compares, later))


CHECK = Check(
    find=find,
    example="with paddle.no_grad():\n    accuracy = (net(x).argmax(1) == y)  # without net.eval()",
)
