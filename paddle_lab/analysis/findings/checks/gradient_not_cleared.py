"""Gradients of the previous step were still there at this step.

Backward adds to the gradients that it finds. If they are not cleared after a step, each step uses
the sum of all gradients so far: training goes wrong, often without any visible sign.

No alarm: several backward calls for one step (gradient accumulation), gradients cleared just before
backward or only in the network that is trained next, and a closure that clears them itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import OPTIMIZER, Check, Event, Facts, Found, warning


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of steps that used gradients which an earlier step had already used."""
    by_stack: dict[int, list[Event]] = {}
    for event in facts.events("stale_gradient"):
        by_stack.setdefault(event.stack, []).append(event)
    for stack, events in by_stack.items():
        place, op = facts.place_of_stack(stack), events[0].ops_before
        is_step = op < facts.op_count and facts.phase(op) == OPTIMIZER
        key = "found" if len(events) == 1 else "found_often"
        at = op if is_step else -1
        yield warning(f"gradient-not-cleared.{key}", place, at, n=len(events))


CHECK = Check(find, example="loss.backward()\noptimizer.step()  # and no optimizer.clear_grad()")
