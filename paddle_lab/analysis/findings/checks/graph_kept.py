"""Tensors keep the backward graph of an earlier step alive, with the tensors saved in it.

A tensor that needs a gradient holds its backward graph and, until ``backward()`` has run through
it, the saved activations. Examples are a running total of losses without a backward call, a hidden
state that the next batch uses, or a list of them: memory grows from step to step. If such a tensor
enters the next step's loss, backward runs through a graph that has been freed.

Training steps are known by backward calls, optimizer steps or ``paddle_lab.step()``. There are two
signs. In several steps, an op reads a tensor that its own line made in an earlier step. Or tensors
that one line made in three or more steps are used later, or were alive together. If each replaces
the previous one, as a best loss does, memory does not grow: that is only a hint.
No alarm: less than 4 kB held, such as losses kept after ``backward()`` freed the saved tensors;
several backward calls through one forward; losses summed within a step; a recurrence over time
within a step; detached tensors; steps of several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.lifetimes.collected import FEWEST_STEPS, Collected, collected
from paddle_lab.analysis.findings.lifetimes.held_graphs import HeldGraphs
from paddle_lab.analysis.findings.lifetimes.named_holders import NamedHolders
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.findings.parts import FORWARD, Check, Facts, Found, Mark, Place, found
from paddle_lab.analysis.findings.saved.failed_backward import failed_backwards
from paddle_lab.analysis.memory.sizes import SMALLEST_BYTES, size_text
from paddle_lab.words import Text

_MOST_TRIED = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose tensors keep graphs of earlier steps."""
    steps = facts.answer(Steps)
    if not len(steps.ends) or not steps.are_of_one_thread:
        return
    has_failed = any(failed.cause == "twice" for failed in facts.answer(failed_backwards))
    graphs, holders = HeldGraphs(facts, steps), NamedHolders(facts)
    named: set[Place] = set()
    for crossing in _crossing(facts, steps).values():
        carried = next(_carried_on(facts, steps, crossing, has_failed=has_failed), None)
        if carried is None or facts.place(facts.producer(carried[0])) in named:
            continue
        tensor, consumer = crossing[-1]
        moment = max(consumer, steps.end_of(tensor))
        held = 0 if has_failed else graphs.bytes_behind([tensor], moment)
        if has_failed or held >= SMALLEST_BYTES:
            named.add(facts.place(facts.producer(carried[0])))
            yield _carried(facts, *carried, held)
    for kept in collected(facts, steps):
        place = facts.place(facts.producer(kept.tensors[0]))
        held = graphs.bytes_behind(_of_earlier_steps(facts, steps, kept), kept.moment)
        if place not in named and held >= SMALLEST_BYTES:
            named.add(place)
            yield _collected(facts, holders, place, kept, held)


def _carried_on(
    facts: Facts, steps: Steps, crossing: list[tuple[int, int]], *, has_failed: bool
) -> Iterator[tuple[int, int]]:
    """Yield each tensor that its own line reads in a later step, and the op that reads it."""
    for tensor, consumer in crossing[:_MOST_TRIED]:
        made = facts.producer(tensor)
        end = next((end for end in steps.ends.tolist() if end > made), facts.op_count)
        is_past_step = any(made < end <= consumer for end in facts.step_ends)
        if steps.leads_to(tensor, steps.stack(tensor), start=end) or (has_failed and is_past_step):
            yield tensor, consumer


def _of_earlier_steps(facts: Facts, steps: Steps, kept: Collected) -> list[int]:
    """Return the tensors of earlier steps, which backward should already have reached."""
    if kept.moment > facts.op_count:
        return kept.together
    present = steps.interval(kept.moment - 1)
    return [one for one in kept.together if steps.interval(facts.producer(one)) != present]


def _crossing(facts: Facts, steps: Steps) -> dict[int, list[tuple[int, int]]]:
    """Return, by stack, tensors with a graph that are read in a later step, and their readers."""
    crossing: dict[int, list[tuple[int, int]]] = {}
    tensors = steps.made_in_forward
    made_in = steps.intervals(facts.record.tensors["producer"][tensors])
    # Ops of the backward phase, as in recomputation, belong to the previous step.
    is_used_later = steps.intervals(steps.last_forward_op[tensors]) > made_in
    candidates = (tensors[is_used_later].tolist(), made_in[is_used_later].tolist())
    for tensor, made in zip(*candidates, strict=True):
        if steps.is_inside_graph(tensor):
            readers = (op for op in facts.consumers(tensor) if facts.phase(op) == FORWARD)
            later = next(op for op in readers if steps.interval(op) > made)
            crossing.setdefault(steps.stack(tensor), []).append((tensor, later))
    return crossing


def _carried(facts: Facts, tensor: int, consumer: int, held_bytes: int) -> Found:
    op = facts.producer(tensor)
    return found(
        f"graph-kept.{'carried' if held_bytes else 'carried_freed'}",
        facts.place(op),
        op,
        severity="warning" if held_bytes else "error",
        marks=[Mark("origin", op), Mark("related", consumer)],
        reader=facts.place(consumer),
        size=size_text(held_bytes),
    )


def _collected(
    facts: Facts, holders: NamedHolders, place: Place, kept: Collected, held_bytes: int
) -> Found:
    op, *others = map(facts.producer, kept.tensors)
    at_once, size = len(kept.together), size_text(held_bytes)
    piles_up, reader = at_once >= FEWEST_STEPS, place
    if not piles_up:
        others = facts.consumers(kept.tensors[0])[-1:]
        reader = facts.place(others[0]) if others else place
    key = "piled_up" if piles_up else "in_turn" if reader == place else "in_turn_read"
    message = Text(
        f"findings.graph-kept.{key}", place=place, at_once=at_once, reader=reader, size=size
    )
    return Found(
        place=place,
        op=op,
        severity="warning" if piles_up else "info",
        message=holders.said(kept.together, message),
        marks=[Mark("origin", op=op), *(Mark("related", op=one) for one in others[:3])],
    )


CHECK = Check(find, example="total = total + loss  # in a training loop")
