"""Trainable parameters fed this line, and no gradient can flow back through it.

``detach()``, ``stop_gradient = True``, a ``no_grad`` block, a way through NumPy or Python numbers,
``argmax``, a comparison or rounding: behind them the loss still has the right value, so training
runs and part of the model stands still.

It is an alarm where parameters that somebody trains were used, no backward call of the whole trace
reached them, and what they fed goes on through the line into a loss. So it is none for targets of
a teacher that no optimizer holds, for a generator trained in its own turn, for frozen layers, or
for a metric beside the loss. Where only the optimizer of a later cell could tell, and what comes
out of ``no_grad`` is but compared with a trained output, it is a hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import PARAMETER, Facts
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.gradients.cuts import Cut, GradientCuts
from paddle_lab.analysis.findings.gradients.idle_backward import idle_calls
from paddle_lab.analysis.findings.gradients.trained import listed
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text

_MOST_MARKS = 12

_WAYS = frozenset(
    ("detach", "data", "copy", "stop_gradient", "detach_", "no_grad", "no_gradient",
     "zero_gradient", "integer", "pylayer", "untracked", "written", "numpy", "number")
)  # fmt: skip


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines at which gradients of trained parameters end."""
    cuts = GradientCuts.of(facts)
    by_place: dict[tuple[Place, str], list[Cut]] = {}
    for cut in cuts.found:
        if cuts.parameters[cut]:
            by_place.setdefault((cut.place, cut.way), []).append(cut)
    for (place, way), group in by_place.items():
        # An array's numbers may meet an argument too; one way a line is enough.
        if way != "number" or (place, "numpy") not in by_place:
            yield _found(cuts, facts, group)
    yield from _returns(facts, by_place)
    if not by_place:
        yield from idle_calls(facts)


def _found(cuts: GradientCuts, facts: Facts, group: list[Cut]) -> Found:
    cut = group[0]
    parameters = {one for each in group for one in cuts.parameters[each]}
    names = sorted(cuts.trained.name(one) for one in parameters)
    way = Text(f"findings.gradient-cut.way.{cut.way if cut.way in _WAYS else 'other'}")
    if cut.op >= 0 and cut.way in ("no_gradient", "zero_gradient"):
        name = facts.op_name(cut.op)
        way = Text("findings.gradient-cut.way_by_op", way=way, name=name)
    rootless = [row for each in group for row in each.behind if row in cuts.rootless]
    dead = bool(rootless) or _leaves_nothing(cuts)
    key = "findings.gradient-cut.found_dead" if dead else "findings.gradient-cut.found"
    return Found(
        place=cut.place,
        op=cut.op,
        severity=_severity(cuts, facts, group),
        message=Text(key, place=cut.place, way=way, names=listed(names)),
        advice=Text(f"findings.gradient-cut.advice.{cut.way}") if cut.way in _ADVISED else None,
        marks=_marks(cuts, group),
    )


def _leaves_nothing(cuts: GradientCuts) -> bool:
    return bool(cuts.rootless) and not cuts.reach.nodes.any()


def _severity(cuts: GradientCuts, facts: Facts, group: list[Cut]) -> Severity:
    if _leaves_nothing(cuts) and any(map(facts.backward_error, facts.user_backward_calls)):
        return "error"
    if cuts.trained.holders or group[0].way != "no_grad":
        return "warning"
    return "warning" if any(_feeds_parameters(cuts, facts, cut) for cut in group) else "info"


def _feeds_parameters(cuts: GradientCuts, facts: Facts, cut: Cut) -> bool:
    """Tell whether trained parameters work on what comes out, or it is the loss itself."""
    pending, seen = list(cut.behind), set()
    while pending:
        row = pending.pop()
        if row in cuts.rootless:
            return True
        if row in seen:
            continue
        seen.add(row)
        for op in facts.consumers(row):
            if cuts.reach.ops[op]:
                if any(facts.tensor_kind(one) == PARAMETER for one in facts.inputs(op)):
                    return True
            else:
                pending.extend(facts.outputs(op))
    return False


def _marks(cuts: GradientCuts, group: list[Cut]) -> list[Mark]:
    ops = dict.fromkeys(cut.op for cut in group if cut.op >= 0)
    marks = [Mark("cut", op=op) for op in list(ops)[:_MOST_MARKS]]
    readers = dict.fromkeys(
        op
        for cut in group
        for parameter in cuts.parameters[cut]
        for op in cuts.trained.used[parameter][:1]
        if op not in ops
    )
    return [*marks, *(Mark("related", op=op) for op in list(readers)[:_MOST_MARKS])]


def _returns(facts: Facts, groups: Iterable[tuple[Place, str]]) -> Iterator[Found]:
    """Yield the other end of a way: where values came back, or the ``no_grad`` that was begun."""
    cuts = GradientCuts.of(facts)
    known = {place for place, _ in groups}
    for cut in cuts.found:
        if cut.event < 0 or cut.way not in ("numpy", "no_grad") or not cuts.parameters[cut]:
            continue
        place = facts.place_of_stack(int(facts.record.events["stack"][cut.event]))
        if place in known or not place.line:
            continue
        known.add(place)
        if cut.way == "numpy":
            message = Text("findings.gradient-cut.returns_numpy", place=place, cut=cut.place)
        else:
            message = Text("findings.gradient-cut.returns", place=place, cut=cut.place)
        yield Found(place=place, op=cut.op, severity="info", message=message)


_ADVISED = frozenset(
    ("numpy", "number", "no_grad", "no_gradient", "zero_gradient", "written", "pylayer",
     "untracked", "integer")
)  # fmt: skip

CHECK = Check(
    kind="gradient-cut",
    find=find,
    example="features = encoder(x).detach()\nloss = head(features).mean()\nloss.backward()",
    holds_on=(),  # a backward call that reaches it may be in another part
)
