"""Tensors that keep the backward graph of an earlier step alive, and what it saved.

A tensor that needs a gradient holds its backward graph and, until ``backward()`` has run through
it, the activations saved in it. A running total of losses that nobody went backward from, a hidden
state that goes into the next batch, a list of them: memory grows from step to step. Carried into
the next step's loss it makes backward run through a graph that has been freed.

Where training steps are known by backward calls, optimizer steps or ``paddle_lab.step()``, two
signs tell of it: an op computes from what the same line made in an earlier step, on and on; or
tensors of one line and of three steps or more are used later, or were alive together. Where each
takes the place of the one before, as a best loss does, memory does not grow: that is but a hint.

No alarm: less than 4 kB held, such as losses kept after ``backward()`` freed what was saved;
several backward calls through one forward, losses added up within a step, a recurrence over time
within a step, whatever is detached, and steps of several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import FORWARD, Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.lifetimes.collected import FEWEST_STEPS, Collected, collected
from paddle_lab.analysis.findings.lifetimes.held_graphs import SMALLEST_BYTES, HeldGraphs
from paddle_lab.analysis.findings.lifetimes.named_holders import NamedHolders
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.findings.place import Place
from paddle_lab.analysis.findings.saved.failed_backward import failed_backwards
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.words import Text

_MOST_TRIED = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose tensors keep graphs of earlier steps."""
    steps = Steps(facts)
    if not len(steps.ends) or not steps.are_of_one_thread:
        return
    crossing = _crossing(facts, steps)
    has_failed = any(failed.cause == "twice" for failed in failed_backwards(facts))
    graphs, holders = HeldGraphs(facts, steps), NamedHolders(facts)
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
                held = 0 if has_failed else _held_by_last(steps, graphs, tensors)
                if has_failed or held >= SMALLEST_BYTES:
                    named.add(place)
                    yield _carried(facts, tensor, consumer, held)
                break
    for kept in collected(facts, steps):
        place = facts.place(facts.producer(kept.tensors[0]))
        held = graphs.bytes_behind(_of_earlier_steps(facts, steps, kept), kept.moment)
        if place not in named and held >= SMALLEST_BYTES:
            named.add(place)
            piles_up = len(kept.together) >= FEWEST_STEPS
            said = (_piled_up if piles_up else _in_turn)(facts, place, kept, held)
            yield replace(said, message=holders.said(kept.together, said.message))


def _held_by_last(steps: Steps, graphs: HeldGraphs, carried: list[tuple[int, int]]) -> int:
    """Return what is held behind the last of the tensors that went on into a later step."""
    tensor, consumer = carried[-1]
    return graphs.bytes_behind([tensor], max(consumer, steps.end_of(tensor)))


def _of_earlier_steps(facts: Facts, steps: Steps, kept: Collected) -> list[int]:
    """Return those that were kept beyond their steps: backward has not come to the newest yet."""
    present = steps.interval(kept.moment - 1)
    is_over = kept.moment > facts.op_count
    return [
        tensor
        for tensor in kept.together
        if is_over or steps.interval(facts.producer(tensor)) != present
    ]


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
        # What backward computes with (recomputation) belongs to the previous step.
        later = [
            op
            for op in facts.consumers(tensor)
            if steps.interval(op) > made and facts.phase(op) == FORWARD
        ]
        if later:
            crossing.setdefault(steps.stack(tensor), []).append((tensor, later[0]))
    return crossing


def _carried(facts: Facts, tensor: int, consumer: int, held_bytes: int) -> Found:
    op = facts.producer(tensor)
    place, reader = facts.place(op), facts.place(consumer)
    return Found(
        place=place,
        op=op,
        severity="warning" if held_bytes else "error",
        message=Text(
            "findings.graph-kept.carried", place=place, reader=reader, size=size_text(held_bytes)
        )
        if held_bytes
        else Text("findings.graph-kept.carried_freed", place=place, reader=reader),
        marks=[Mark("origin", op=op), Mark("related", op=consumer)],
    )


def _piled_up(facts: Facts, place: Place, kept: Collected, held_bytes: int) -> Found:
    ops = [facts.producer(tensor) for tensor in kept.tensors]
    return Found(
        place=place,
        op=ops[0],
        severity="warning",
        message=Text(
            "findings.graph-kept.piled_up",
            place=place,
            at_once=len(kept.together),
            size=size_text(held_bytes),
        ),
        marks=[Mark("origin", op=ops[0]), *(Mark("related", op=op) for op in ops[1:4])],
    )


def _in_turn(facts: Facts, place: Place, kept: Collected, held_bytes: int) -> Found:
    op, size = facts.producer(kept.tensors[0]), size_text(held_bytes)
    readers = facts.consumers(kept.tensors[0])[-1:]
    reader = facts.place(readers[0]) if readers else place
    return Found(
        place=place,
        op=op,
        severity="info",
        message=Text("findings.graph-kept.in_turn", place=place, size=size)
        if reader == place
        else Text("findings.graph-kept.in_turn_read", place=place, reader=reader, size=size),
        marks=[Mark("origin", op=op), *(Mark("related", op=one) for one in readers)],
    )


CHECK = Check(
    kind="graph-kept",
    find=find,
    example="total = total + loss  # in a training loop",
)
