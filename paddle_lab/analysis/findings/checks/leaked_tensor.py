"""Tensors of one line that pile up from step to step.

A list, a dict, a layer's attribute or a hook keeps collecting tensors that nothing reads again:
each step leaves some memory behind. The check reports tensors that were alive at one moment, if one
line made them in three or more iterations and no later iteration used them.

An iteration is a training step. Without steps it is a call of the outermost layer and what follows
it. Then only tensors computed from parameters count, because batches made beforehand are no leak.
No alarm: a tensor carried from one iteration to the next (a hidden state) was used; the tensors of
one forward (the outputs of all its blocks) belong to one iteration; a collection that is full,
drops some tensors (a pool of images), or is read later. If graphs behind the tensors hold memory,
the finding is ``graph-kept``. A collection in a variable or a comprehension is only information,
because a later cell may read it. Nothing is reported for such a variable in a loop without steps,
or for less than 4 kB.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.lifetimes.held_graphs import HeldGraphs
from paddle_lab.analysis.findings.lifetimes.named_holders import NamedHolders
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.findings.parts import ACTIVATION, FORWARD, Check, Facts, Found, Mark
from paddle_lab.analysis.graph.dataflow import producers
from paddle_lab.analysis.memory.sizes import SMALLEST_BYTES, size_text
from paddle_lab.analysis.source.stacks import stack_of
from paddle_lab.trace.trees import taken
from paddle_lab.words import Text

_FEWEST_ITERATIONS = 3
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose tensors pile up."""
    steps = facts.answer(Steps)
    if not steps.are_of_one_thread:
        return
    graphs, holders = HeldGraphs(facts, steps), NamedHolders(facts)
    for made in _by_line(facts, steps):
        tensors = sorted(steps.alive_together(made))
        if len(tensors) < _FEWEST_ITERATIONS or _is_used(facts, steps, made):
            continue
        size = graphs.own_bytes(tensors)
        if size < SMALLEST_BYTES or _is_bounded(steps, made):
            continue
        is_in_plain_sight = holders.is_variable(tensors)
        if is_in_plain_sight and not len(steps.ends):
            continue
        moment = min(map(steps.end_of, tensors))
        if graphs.bytes_behind(tensors, moment) < SMALLEST_BYTES:
            ops = [made[tensor] for tensor in tensors]
            place, count = facts.place(ops[0]), len(tensors)
            is_meant = is_in_plain_sight or _is_in_comprehension(facts, ops[0])
            is_known = bool(len(steps.ends)) or ops[-1] in facts.fed_ops
            message = Text(
                "findings.leaked-tensor.found", place=place, tensors=count, size=size_text(size)
            )
            yield Found(
                place=place,
                op=ops[0],
                severity="warning" if is_known and not is_meant else "info",
                message=holders.said(tensors, message),
                marks=[Mark("origin", op=ops[0]), *(Mark("related", op=op) for op in ops[1:4])],
            )


def _by_line(facts: Facts, steps: Steps) -> Iterator[dict[int, int]]:
    """Yield, for each line with enough iterations, the last tensor of each iteration and its op."""
    record = facts.record
    tensor = np.array(sorted(steps.alive_until), np.int64)
    op = producers(record)[0][tensor]
    counts = (record.tensors["kind"][tensor] == ACTIVATION) & (op >= 0)
    counts &= np.append(record.ops["phase"] == FORWARD, False)[op]
    tensor, op = tensor[counts], op[counts]
    layer = taken(record.scopes["layer"], record.ops["scope"][op])
    columns = (record.ops["stack"][op], layer, _iterations(facts, steps)[op], tensor, op)
    groups: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
    for stack, of, iteration, *last in zip(*(one.tolist() for one in columns), strict=True):
        groups.setdefault((stack, of), {})[iteration] = (last[0], last[1])
    for made in groups.values():
        if len(made) >= _FEWEST_ITERATIONS:
            yield dict(made.values())


def _iterations(facts: Facts, steps: Steps) -> npt.NDArray[Any]:
    """Return the iteration of each op."""
    ops = np.arange(facts.op_count)
    if len(steps.ends):
        return steps.intervals(ops)
    call = facts.layer_calls[facts.record.ops["scope"]]
    # Ops after a layer's call and before the next call belong to the first call.
    newest = np.maximum.accumulate(np.where(call < 0, -1, ops))
    return np.where(newest < 0, -1, call[newest])


def _is_used(facts: Facts, steps: Steps, made: dict[int, int]) -> bool:
    """Tell whether tensors were read after their own iteration, or carried into the next."""
    (first, begin), (_, start), *_ = made.items()
    last_use = steps.last_use[list(made)].tolist()
    is_read_late = any(
        used > op for used, op in zip(last_use, list(made.values())[1:], strict=False)
    )
    return is_read_late or steps.leads_to(first, facts.stack(begin), start=start)


def _is_bounded(steps: Steps, made: dict[int, int]) -> bool:
    """Tell whether a collection is full, or drops some tensors while it keeps others.

    Parameters
    ----------
    made
        Tensors and the ops that made them, in order.
    """
    lives = [(steps.end_of(tensor), op) for tensor, op in made.items()]
    is_kept = [life[0] > begin for life, (_, begin) in pairwise(lives)]
    kept = [turn for turn, is_one in enumerate(is_kept) if is_one]
    gaps = [after - before for before, after in pairwise(kept)]
    # The newest iterations no longer add anything to the collection.
    if len(is_kept) - 1 - max(kept, default=0) >= max(gaps, default=len(is_kept)):
        return True
    # A tensor lived longer than its iteration, but was freed before the newest tensor was made.
    return any(lives[turn][0] < lives[-1][1] for turn in kept)


def _is_in_comprehension(facts: Facts, op: int) -> bool:
    frames = stack_of(facts.record, facts.stack(op))
    return any(frame.function.endswith(_COMPREHENSIONS) for frame in frames if frame.kind == "user")


CHECK = Check(
    find=find,
    example="history.append(net(x))  # in a loop that never reads history",
    holds_on=("newest",),  # later ops may read it
)
