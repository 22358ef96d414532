"""A backward graph is built here and never used.

``net.eval()`` changes dropout and batch norm, but gradients are still recorded. Without
``no_grad``, evaluation keeps tensors for a backward call that never comes.

It is an alarm if a model in eval mode was called, or a model was called several times, and only
numbers of the result were used: ``float(loss)``, ``argmax``, ``numpy()``. No alarm: a forward pass
whose result is kept, because the next cell may call ``backward``; norms and copies of the weights.
Values that went into a loss without their graph (a detached sample of a generator) are at most a
hint, and not reported if less than 4 kB was saved.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.gradients.unused_calls import UnusedCall, UnusedCalls, Use
from paddle_lab.analysis.findings.lifetimes.held_graphs import HeldGraphs
from paddle_lab.analysis.findings.lifetimes.steps import Steps
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, Place, Severity
from paddle_lab.analysis.memory.sizes import SMALLEST_BYTES, size_text
from paddle_lab.words import Text


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that called a model whose graph was not used."""
    model_calls = facts.answer(UnusedCalls)
    by_place: dict[Place, list[UnusedCall]] = {}
    for call in model_calls.unused:
        by_place.setdefault(facts.model_place(call.op), []).append(call)
    if not by_place:
        return
    graphs = HeldGraphs(facts, facts.answer(Steps))
    used = {facts.model_place(op) for op in model_calls.used_ops}
    for place, calls in by_place.items():
        severity = _severity(facts, calls, is_used_too=place in used)
        if severity is None:
            continue
        saved = _held_at_once(graphs, calls)
        if severity == "warning" or saved >= SMALLEST_BYTES:
            yield _found(place, calls, severity, saved)


def _severity(facts: Facts, calls: list[UnusedCall], *, is_used_too: bool) -> Severity | None:
    aside = [call for call in calls if Use.IN_LOSS not in call.use]
    if any(call.is_eval and Use.LOOKED_AT in call.use for call in aside):
        return "warning"
    done_with = [call for call in aside if Use.LOOKED_AT in call.use and Use.LIVES not in call.use]
    # If other calls of this line are used, this call may belong to a step that was skipped.
    if (len(done_with) > 1 or (done_with and facts.user_backward_calls)) and not is_used_too:
        return "warning"
    layers = [call for call in calls if call.is_layer]
    if any(call in done_with or call.is_eval or Use.IN_LOSS in call.use for call in layers):
        return "info"
    return None


def _held_at_once(graphs: HeldGraphs, calls: list[UnusedCall]) -> int:
    own = [call for call in calls if call.ops]
    sizes = [
        (Use.LIVES in call.use, graphs.bytes_saved(call.ops, max(call.ops) + 1)) for call in own
    ]
    together = sum(size for is_living, size in sizes if is_living)
    return together + max((size for is_living, size in sizes if not is_living), default=0)


def _found(place: Place, calls: list[UnusedCall], severity: Severity, saved: int) -> Found:
    said = Text("findings.unused-graph.found", place=place)
    if len(calls) > 1:
        said = Text("findings.unused-graph.found_often", place=place, n=len(calls))
    if any(call.is_eval for call in calls):
        said = Text("findings.unused-graph.eval", said=said)
    if saved >= SMALLEST_BYTES:
        said = Text("findings.unused-graph.saved", said=said, size=size_text(saved))
    return Found(
        place=place,
        op=calls[0].op,
        severity=severity,
        message=said,
        marks=[Mark("related", op=call.op) for call in calls[:8]],
    )


CHECK = Check(
    find=find,
    example="net.eval()\naccuracy = float((net(x).argmax(1) == y).astype('float32').mean())",
    consequence_of=("gradient-cut",),
    holds_on=(),  # other calls of the line may be used in another part
)
