"""Tensors of one line that pile up from step to step.

A list, a dict, a layer's attribute or a hook goes on collecting tensors that nothing reads again:
each step leaves some memory behind. The sign: tensors alive at one moment that one line made in
three or more iterations, and that no later iteration used.

An iteration is a training step, or a call of the outermost layer and what comes after it where
there are no steps. Only
what comes from parameters counts then: batches of data made beforehand are no leak. What is carried
from one iteration to the next (a hidden state) was used; tensors of one forward (the outputs of all
its blocks) are one iteration. A collection that is full or lets go of some, as a pool of images
does, or of which some are read later, is none either. Where graphs behind them hold memory they are
``graph-kept``. What a comprehension or a variable collects in plain sight is said as information
only, for a later cell may read it; of a loop without steps, as one that predicts, it is not said at
all, nor is less than 4 kB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import ACTIVATION, FORWARD, PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.lifetimes.held_graphs import SMALLEST_BYTES, HeldGraphs
from paddle_lab.analysis.findings.lifetimes.named_holders import NamedHolders
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.graph.trees import nearest_marked
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.words import Text

Rows = npt.NDArray[np.int64]

_FEWEST_ITERATIONS = 3
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose tensors pile up."""
    steps = Steps(facts)
    if not steps.are_of_one_thread:
        return
    graphs, holders = HeldGraphs(facts, steps), NamedHolders(facts)
    groups: dict[tuple[int, int], dict[int, int]] = {}
    tensors_seen, ops = _seen_activations(facts, steps)
    columns = (
        _stacks_and_layers(facts, ops),
        _iterations(facts, steps, ops),
        tensors_seen.tolist(),
    )
    for group, iteration, tensor in zip(*columns, strict=True):
        groups.setdefault(group, {})[iteration] = tensor
    maker = dict(zip(columns[2], ops.tolist(), strict=True))
    for made in groups.values():
        if len(made) < _FEWEST_ITERATIONS:
            continue
        together = steps.alive_together({tensor: maker[tensor] for tensor in made.values()})
        tensors = sorted(together)
        if len(tensors) < _FEWEST_ITERATIONS or _is_used(facts, steps, list(made.values())):
            continue
        size = graphs.own_bytes(tensors)
        if size < SMALLEST_BYTES or _is_bounded(
            steps, [(maker[one], one) for one in made.values()]
        ):
            continue
        is_in_plain_sight = holders.is_variable(tensors)
        if is_in_plain_sight and not len(steps.ends):
            continue
        moment = min(map(steps.end_of, tensors))
        if graphs.bytes_behind(tensors, moment) < SMALLEST_BYTES:
            found = _found(facts, tensors, size)
            is_meant = is_in_plain_sight or _is_on_purpose(facts, steps, tensors)
            yield replace(
                found,
                severity="info" if is_meant or not _is_known(facts, steps, tensors) else "warning",
                message=holders.said(tensors, found.message),
            )


def _seen_activations(facts: Facts, steps: Steps) -> tuple[Rows, Rows]:
    """Return the activations of a forward that were seen alive, and the ops that made them."""
    record = facts.record
    tensors = np.array(sorted(steps.alive_until), np.int64)
    producer, detached_from = record.tensors["producer"], record.tensors["detached_from"]
    source = nearest_marked(detached_from, (producer >= 0) | (detached_from < 0))
    tensors = tensors[record.tensors["kind"][tensors] == ACTIVATION]
    op = producer[source[tensors]]
    tensors, op = tensors[op >= 0], op[op >= 0]
    is_forward = record.ops["phase"][op] == FORWARD
    return tensors[is_forward], op[is_forward].astype(np.int64)


def _origin(facts: Facts, tensor: int) -> int:
    """Return the op that made a tensor's values, seen through ``detach``; -1 for none."""
    detached_from = facts.record.tensors["detached_from"]
    while facts.producer(tensor) < 0 <= detached_from[tensor]:
        tensor = int(detached_from[tensor])
    return facts.producer(tensor)


def _stacks_and_layers(facts: Facts, ops: Rows) -> Iterator[tuple[int, int]]:
    """Yield the stack of each op, and the layer that called it, -1 for none."""
    record = facts.record
    layer = np.append(record.scopes["layer"], -1)[record.ops["scope"][ops]]
    return zip(record.ops["stack"][ops].tolist(), layer.tolist(), strict=True)


def _iterations(facts: Facts, steps: Steps, ops: Rows) -> list[int]:
    if len(steps.ends):
        steps_of: list[int] = steps.intervals(ops).tolist()
        return steps_of
    call = np.append(np.array(facts.outermost_layer_calls, np.int64), -1)
    call = call[facts.record.ops["scope"]]
    # What comes after a layer's call, and before the next one, belongs to it.
    newest = np.maximum.accumulate(np.where(call < 0, -1, np.arange(len(call))))
    iterations: list[int] = np.where(newest < 0, -1, call[newest])[ops].tolist()
    return iterations


def _is_used(facts: Facts, steps: Steps, tensors: list[int]) -> bool:
    """Tell whether tensors were read in iterations after their own, or carried into the next."""
    last_use = steps.last_use[tensors].tolist()
    late = [
        used > _origin(facts, following)
        for used, following in zip(last_use[:-1], tensors[1:], strict=True)
    ]
    if any(late):
        return True
    first = tensors[0]
    stack = int(facts.record.ops["stack"][_origin(facts, first)])
    return steps.leads_to(first, stack, start=_origin(facts, tensors[1]))


def _is_bounded(steps: Steps, made: list[tuple[int, int]]) -> bool:
    """Tell whether a collection is full, or lets go of some while it keeps others.

    Parameters
    ----------
    made
        Ops, in order, and the tensors they made.
    """
    lives = [(steps.end_of(tensor), op) for op, tensor in made]
    is_kept = [life[0] > begin for life, (_, begin) in pairwise(lives)]
    kept = [turn for turn, is_one in enumerate(is_kept) if is_one]
    gaps = [after - before for before, after in pairwise(kept)]
    # Iterations go on, and none of them leaves anything behind any more.
    if len(is_kept) - 1 - max(kept, default=0) >= max(gaps, default=len(is_kept)):
        return True
    ends = sorted((lives[turn] for turn in kept), reverse=True)
    earliest = made[-1][0]  # begin of those that ended later
    for end, ended in groupby(ends, key=itemgetter(0)):
        if end < ends[0][0] and earliest < end:
            return True
        earliest = min(earliest, *(begin for _, begin in ended))
    return False


def _found(facts: Facts, tensors: list[int], size: int) -> Found:
    ops = [_origin(facts, tensor) for tensor in tensors]
    place = facts.place(ops[0])
    return Found(
        place=place,
        op=ops[0],
        severity="warning",
        message=Text(
            "findings.leaked-tensor.found", place=place, tensors=len(tensors), size=size_text(size)
        ),
        marks=[Mark("origin", op=ops[0]), *(Mark("related", op=op) for op in ops[1:4])],
    )


def _is_on_purpose(facts: Facts, steps: Steps, tensors: list[int]) -> bool:
    return any(
        frame.function.endswith(_COMPREHENSIONS)
        for frame in stack_of(facts.record, steps.stack_of_op(_origin(facts, tensors[0])))
        if frame.kind == "user"
    )


def _is_known(facts: Facts, steps: Steps, tensors: list[int]) -> bool:
    return bool(len(steps.ends)) or _comes_from_parameter(facts, _origin(facts, tensors[-1]))


def _comes_from_parameter(facts: Facts, op: int, *, most: int = 5000) -> bool:
    seen, pending = {op}, [op]
    while pending and len(seen) < most:
        for tensor in facts.inputs(pending.pop()):
            if facts.tensor_kind(tensor) == PARAMETER:
                return True
            maker = _origin(facts, tensor)
            if maker >= 0 and maker not in seen:
                seen.add(maker)
                pending.append(maker)
    return False


CHECK = Check(
    kind="leaked-tensor",
    find=find,
    example="history.append(net(x))  # in a loop that never reads history",
    holds_on=("newest",),  # ops after may read it
)
