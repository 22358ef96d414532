"""A line uses trainable parameters, and no gradient can flow back through it.

Examples are ``detach()``, ``stop_gradient = True``, a ``no_grad`` block, a conversion to NumPy or
to Python numbers, ``argmax``, a comparison, rounding. The loss still has the right value, so
training runs, but a part of the model does not learn.
It is an alarm if trainable parameters were used, no backward call of the whole trace reached them,
and their values go through the line into a loss. It is no alarm for a teacher without an optimizer,
a generator that is trained in another step, frozen layers, or a metric outside of the loss.
If no optimizer is known and the cut is a ``no_grad``, it is a hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paddle_lab.analysis.findings.finding import Found, Mark, Place, Severity, found
from paddle_lab.analysis.findings.gradients.cuts import Cut, GradientCuts
from paddle_lab.analysis.findings.parts import PARAMETER, Check, Facts, walk
from paddle_lab.words import Text

_MOST_MARKS = 12
_PADDLE_GRAD = "paddle.grad"
_ADVISED = frozenset(
    ("numpy", "number", "no_grad", "no_gradient", "zero_gradient", "written", "pylayer",
     "untracked", "integer")
)  # fmt: skip
_WAYS = _ADVISED | {"detach", "data", "copy", "stop_gradient", "detach_"}


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines at which gradients of trained parameters end."""
    cuts = facts.answer(GradientCuts)
    by_place: dict[tuple[Place, str], list[Cut]] = {}
    for cut in cuts.parameters:
        by_place.setdefault((cut.place, cut.way), []).append(cut)
    for (place, way), group in by_place.items():
        # If one line reads an array and also passes the numbers to an op, report only the array.
        if way != "number" or (place, "numpy") not in by_place:
            yield _found(cuts, facts, group)
    yield from _returns(facts, by_place)
    if not by_place:
        yield from _idle_calls(facts)


def _found(cuts: GradientCuts, facts: Facts, group: list[Cut]) -> Found:
    cut = group[0]
    names = cuts.trained.names([*{one for each in group for one in cuts.parameters[each]}])
    way = Text(f"findings.gradient-cut.way.{cut.way if cut.way in _WAYS else 'other'}")
    if cut.op >= 0 and cut.way in ("no_gradient", "zero_gradient"):
        name = facts.op_name(cut.op)
        way = Text("findings.gradient-cut.way_by_op", way=way, name=name)
    leaves_nothing = bool(cuts.rootless) and not cuts.reach.nodes.any()
    is_rootless = any(row in cuts.rootless for each in group for row in each.behind)
    key = "found_dead" if is_rootless or leaves_nothing else "found"
    has_raised = any(map(facts.backward_error, facts.user_backward_calls))
    is_known = cuts.trained.holders or cut.way != "no_grad"
    severity: Severity = "warning" if is_known else "info"
    if leaves_nothing and has_raised:
        severity = "error"
    return found(
        f"gradient-cut.{key}",
        cut.place,
        cut.op,
        severity=severity,
        advice=Text(f"findings.gradient-cut.advice.{cut.way}") if cut.way in _ADVISED else None,
        marks=_marks(cuts, group),
        way=way,
        names=names,
    )


def _marks(cuts: GradientCuts, group: list[Cut]) -> list[Mark]:
    ops = dict.fromkeys(cut.op for cut in group if cut.op >= 0)
    marks = [Mark("cut", op=op) for op in list(ops)[:_MOST_MARKS]]
    parameters = (one for cut in group for one in cuts.parameters[cut])
    readers = dict.fromkeys(cuts.trained.used[one][0] for one in parameters)
    related = [op for op in readers if op not in ops]
    return [*marks, *(Mark("related", op=op) for op in related[:_MOST_MARKS])]


def _returns(facts: Facts, groups: Iterable[tuple[Place, str]]) -> Iterator[Found]:
    """Yield the other end of a cut: where values came back, or where ``no_grad`` began."""
    known = {place for place, _ in groups}
    for cut in facts.answer(GradientCuts).parameters:
        if cut.event is None or cut.way not in ("numpy", "no_grad"):
            continue
        place = facts.place_of_stack(cut.event.stack)
        if place in known or not place.line:
            continue
        known.add(place)
        key = "returns_numpy" if cut.way == "numpy" else "returns"
        message = Text(f"findings.gradient-cut.{key}", place=place, cut=cut.place)
        yield Found(place=place, op=cut.op, severity="info", message=message)


def _idle_calls(facts: Facts) -> Iterator[Found]:
    """Yield the lines that caused backward calls on tensors without a gradient.

    Paddle raises no error then, and the optimizer's step changes no parameter.
    """
    calls = facts.record.backward_calls
    # A call with several losses has an effect if one of them has a graph.
    with_graph = {
        (int(calls["stack"][call]), facts.ops_before(call))
        for call in facts.user_backward_calls
        if facts.nodes_of_call(call)
    }
    for event in facts.events("rootless_backward"):
        has_graph = (event.stack, event.ops_before) in with_graph
        if not facts.needs_grad(event.tensor) and not has_graph:
            yield _idle(facts, facts.place_of_stack(event.stack), event.tensor)


def _idle(facts: Facts, backward: Place, loss: int) -> Found:
    def sources(tensor: int) -> list[int]:
        """Return the tensors that a tensor was computed from; none after ``paddle.grad``."""
        op = facts.producer(tensor)
        return [] if op < 0 or facts.op_name(op) == _PADDLE_GRAD else facts.inputs(op)

    behind = list(walk([loss], sources))
    makers = [op for op in map(facts.producer, behind) if op >= 0]
    gradients = [op for op in makers if facts.op_name(op) == _PADDLE_GRAD]
    op = max(gradients, default=facts.producer(loss))
    frozen = sum(facts.tensor_kind(one) == PARAMETER for one in behind)
    place = facts.place(op) if gradients else backward
    key = "no_graph" if gradients else "frozen" if frozen else "rootless"
    advice = "no_graph_advice" if gradients else "advice"
    told = Text(f"findings.idle-backward.{advice}")
    marks = [Mark("cut", op)] if op >= 0 else []
    key = f"idle-backward.{key}"
    return found(key, place, op, advice=told, marks=marks, backward=backward, n=frozen)


CHECK = Check(
    find=find,
    example="features = encoder(x).detach()\nloss = head(features).mean()\nloss.backward()",
    holds_on=(),  # a backward call in another part may reach the parameters
)
