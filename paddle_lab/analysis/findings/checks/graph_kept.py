"""Tensors that keep the backward graph of an earlier step alive.

A tensor that needs a gradient holds its whole backward graph, and the activations saved in it. A
running total of losses, a hidden state carried into the next batch, a list of losses: each keeps
the graphs of all steps so far, and memory grows. Carried into the next step's loss it makes
backward run through a graph that has been freed.

Where training steps are known by backward calls, optimizer steps or ``paddle_lab.step()``, two
signs tell of it: an op computes from what the same line made in an earlier step, on and on; or
tensors of one line and of three steps or more are used later, or were alive together.

No alarm: several backward calls through one forward, losses added up within a step, a recurrence
over time within a step, whatever is detached, and steps of several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.failed_backward import failed_backwards
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.steps import Steps
from paddle_lab.analysis.findings.text import Text

_FEWEST_STEPS = 3
_MOST_TRIED = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose tensors keep graphs of earlier steps."""
    steps = Steps(facts)
    if not len(steps.ends) or not steps.are_of_one_thread:
        return
    crossing = _crossing(facts, steps)
    has_failed = any(failed.cause == "twice" for failed in failed_backwards(facts))
    named: set[Place] = set()
    for tensors in crossing.values():
        for tensor, consumer in tensors[:_MOST_TRIED]:
            start = steps.end_after(facts.producer(tensor))
            is_carried = steps.leads_to(tensor, steps.stack(tensor), start=start)
            is_reused = has_failed and steps.has_optimizer_step_between(
                facts.producer(tensor), consumer
            )
            place = facts.place(facts.producer(tensor))
            if (is_carried or is_reused) and place not in named:
                named.add(place)
                yield _carried(facts, tensor, consumer, "error" if has_failed else "warning")
                break
    for kept in _collected(facts, steps):
        place = facts.place(facts.producer(kept[0]))
        if place not in named:
            named.add(place)
            yield _piled_up(facts, place, kept)


def _crossing(facts: Facts, steps: Steps) -> dict[int, list[tuple[int, int]]]:
    """Return, by stack, tensors inside of graphs that an op of a later step reads, and that op."""
    crossing: dict[int, list[tuple[int, int]]] = {}
    tensors = steps.made_in_forward
    made_in = steps.intervals(facts.record.tensors["producer"][tensors])
    is_used_later = steps.intervals(steps.last_use[tensors]) != made_in
    candidates = (tensors[is_used_later].tolist(), made_in[is_used_later].tolist())
    for tensor, made in zip(*candidates, strict=True):
        if not steps.is_inside_graph(tensor):
            continue
        # What backward computes with (recomputation) belongs to the step before.
        later = [
            op
            for op in facts.consumers(tensor)
            if steps.interval(op) > made and facts.phase(op) == FORWARD
        ]
        if later:
            crossing.setdefault(steps.stack(tensor), []).append((tensor, later[0]))
    return crossing


def _collected(facts: Facts, steps: Steps) -> Iterator[list[int]]:
    """Yield tensors of one stack and of several steps that were still wanted after the next."""
    for tensors in _made_in_several_steps(facts, steps):
        intervals = [steps.interval(facts.producer(tensor)) for tensor in tensors]
        made = {tensor: facts.producer(tensor) for tensor in tensors}
        kept = {steps.interval(made[tensor]) for tensor in steps.alive_together(made)}
        following = _first_of_next(facts, tensors, intervals)
        late = {
            interval
            for tensor, interval, after in zip(tensors, intervals, following, strict=True)
            if 0 <= after < int(steps.last_use[tensor])
        }
        # The last of them has no later step to be used in.
        if len(kept) < _FEWEST_STEPS and len(late) < _FEWEST_STEPS - 1:
            continue
        found = {
            interval: tensor
            for tensor, interval in zip(tensors, intervals, strict=True)
            if interval in kept | late
        }
        if steps.is_inside_graph(tensors[-1]):
            yield list(found.values())


def _made_in_several_steps(facts: Facts, steps: Steps) -> Iterator[list[int]]:
    """Yield the tensors that need a gradient and were made at one stack, where steps are enough.

    Left out are those that cannot have been kept: nothing of theirs was used in a later step, and
    nothing seen alive. These are nearly all, of a training loop that is as it should be.
    """
    record = facts.record
    made = steps.made_in_forward
    made = made[record.tensors["stop_gradient"][made] == 0]
    stack = record.ops["stack"][record.tensors["producer"][made]].astype(np.int64)
    order = np.argsort(stack, kind="stable")
    made, stack = made[order], stack[order]
    producer = record.tensors["producer"][made].astype(np.int64)
    interval = steps.intervals(producer)
    group = np.cumsum(np.append(False, stack[1:] != stack[:-1])[: len(stack)])
    pairs = np.unique(group * (len(steps.ends) + 1) + interval)
    intervals = np.bincount(
        pairs // (len(steps.ends) + 1), minlength=int(group.max(initial=-1)) + 1
    )
    is_late = _is_used_late(group, interval, producer, steps.last_use[made])
    is_seen = np.isin(made, np.fromiter(steps.alive_until, np.int64, len(steps.alive_until)))
    late, seen = (np.bincount(group[rows], minlength=len(intervals)) for rows in (is_late, is_seen))
    is_wanted = (intervals >= _FEWEST_STEPS) & (
        (late > _FEWEST_STEPS - 2) | (seen >= _FEWEST_STEPS)
    )
    starts = np.searchsorted(group, np.arange(len(intervals) + 1))
    wanted = np.flatnonzero(is_wanted)
    for one in wanted[np.argsort(order[starts[wanted]], kind="stable")].tolist():
        tensors: list[int] = made[starts[one] : starts[one + 1]].tolist()
        yield tensors


def _is_used_late(
    group: npt.NDArray[Any],
    interval: npt.NDArray[Any],
    producer: npt.NDArray[Any],
    last_use: npt.NDArray[Any],
) -> npt.NDArray[np.bool_]:
    """Tell of tensors, by group, which were used after the next interval's first was made."""
    is_next = (group[1:] == group[:-1]) & (interval[1:] != interval[:-1])
    ends = np.append(np.flatnonzero((group[1:] != group[:-1]) | is_next), len(group) - 1)
    end = ends[np.searchsorted(ends, np.arange(len(group)))]
    has_next = np.append(is_next, False)[end]
    after = np.append(producer, -1)[end + 1]
    late: npt.NDArray[np.bool_] = has_next & (after < last_use)
    return late


def _first_of_next(facts: Facts, tensors: list[int], intervals: list[int]) -> list[int]:
    """Return, for each tensor, the first op of its stack in the next interval that has one."""
    following, after = [-1] * len(tensors), -1
    for index in range(len(tensors) - 1, -1, -1):
        if index + 1 < len(tensors) and intervals[index] != intervals[index + 1]:
            after = facts.producer(tensors[index + 1])
        following[index] = after
    return following


def _carried(facts: Facts, tensor: int, consumer: int, severity: Severity) -> Found:
    op = facts.producer(tensor)
    place, reader = facts.place(op), facts.place(consumer)
    return Found(
        place=place,
        op=op,
        severity=severity,
        message=Text(
            en=f"{place.said()} makes a tensor that a later step goes on computing with "
            f"({reader.said()}): the backward graph of every step so far stays alive.",
            zh=f"{place.said('zh')} 产生的张量被后面的步骤继续用于计算"
            f"({reader.said('zh')}):此前每一步的反向图都一直存活。",
        ),
        marks=[Mark("origin", op=op), Mark("related", op=consumer)],
    )


def _piled_up(facts: Facts, place: Place, kept: list[int]) -> Found:
    ops = [facts.producer(tensor) for tensor in kept]
    return Found(
        place=place,
        op=ops[0],
        severity="warning",
        message=Text(
            en=f"Tensors that {place.said()} made in {len(kept)} different steps are kept, each "
            "with the whole backward graph of its step.",
            zh=f"{place.said('zh')} 在 {len(kept)} 个不同步骤中产生的张量被保留,"
            "每个都带着那一步完整的反向图。",
        ),
        marks=[Mark("origin", op=ops[0]), *(Mark("related", op=op) for op in ops[1:4])],
    )


CHECK = Check(
    kind="graph-kept",
    title=Text(
        en="A backward graph of an earlier step is kept alive",
        zh="更早步骤的反向图一直存活",
    ),
    advice=Text(
        en="Keep the number, not the graph: `total += float(loss)`, "
        "`losses.append(loss.detach())`, or `state = state.detach()` before the next step.",
        zh="只保留数值,不保留图:使用 `total += float(loss)`、`losses.append(loss.detach())`,"
        "或在下一步之前执行 `state = state.detach()`。",
    ),
    find=find,
    example="total = total + loss  # in a training loop",
    cost="nothing: it reads what every trace has",
)
