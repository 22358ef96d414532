"""Tensors that keep the backward graph of an earlier step alive.

A tensor that needs a gradient holds its whole backward graph, and the activations saved in it. A
running total of losses, a hidden state carried into the next batch, a list of losses: each keeps
the graphs of all steps so far, and memory grows. Carried into the next step's loss it makes
backward run through a graph that has been freed.

Where training steps are known by backward calls, optimizer steps or ``paddle_lab.step()``, two
signs tell of it: an op computes from what the same line made in an earlier step, on and on; or
tensors of one line and of three steps or more are used later, or were alive together. Where each
takes the place of the one before, as a best loss does, memory does not grow: that is but a hint.

No alarm: several backward calls through one forward, losses added up within a step, a recurrence
over time within a step, whatever is detached, and steps of several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.collected import FEWEST_STEPS, Collected, collected
from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.failed_backward import failed_backwards
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.steps import Steps
from paddle_lab.words import Text

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
    for kept in collected(facts, steps):
        place = facts.place(facts.producer(kept.tensors[0]))
        if place not in named:
            named.add(place)
            piles_up = kept.at_once >= FEWEST_STEPS
            yield (_piled_up if piles_up else _in_turn)(facts, place, kept)


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


def _carried(facts: Facts, tensor: int, consumer: int, severity: Severity) -> Found:
    op = facts.producer(tensor)
    place, reader = facts.place(op), facts.place(consumer)
    return Found(
        place=place,
        op=op,
        severity=severity,
        message=Text("findings.graph-kept.carried", place=place, reader=reader),
        marks=[Mark("origin", op=op), Mark("related", op=consumer)],
    )


def _piled_up(facts: Facts, place: Place, kept: Collected) -> Found:
    ops = [facts.producer(tensor) for tensor in kept.tensors]
    return Found(
        place=place,
        op=ops[0],
        severity="warning",
        message=Text("findings.graph-kept.piled_up", place=place, at_once=kept.at_once),
        marks=[Mark("origin", op=ops[0]), *(Mark("related", op=op) for op in ops[1:4])],
    )


def _in_turn(facts: Facts, place: Place, kept: Collected) -> Found:
    op = facts.producer(kept.tensors[0])
    readers = facts.consumers(kept.tensors[0])[-1:]
    reader = facts.place(readers[0]) if readers else place
    return Found(
        place=place,
        op=op,
        severity="info",
        message=Text("findings.graph-kept.in_turn", place=place)
        if reader == place
        else Text("findings.graph-kept.in_turn_read", place=place, reader=reader),
        marks=[Mark("origin", op=op), *(Mark("related", op=one) for one in readers)],
    )


CHECK = Check(
    kind="graph-kept",
    find=find,
    example="total = total + loss  # in a training loop",
)
