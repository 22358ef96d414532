"""Parameters that an optimizer holds got no gradient, or their layer's result is not used.

Examples are a layer that ``forward`` never calls, a layer whose output is not used, a model that
was built again after the optimizer, or a ``paddle.grad`` call that did not ask for these gradients.
The parameters are counted and saved, but keep their initial values.

It is an alarm if a backward call ran, and an optimizer that stepped holds a trainable parameter
that no gradient of the whole trace reached. In a trace without a step, the optimizer must hold
other parameters that were reached. It is a hint if no optimizer is known, or if each step chooses
among the parameters, as with experts. No alarm: frozen parameters, those that ``gradient-cut``
reports, those behind a call with ``no_grad_vars``, and those that the optimizer updated with
earlier gradients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Mark, Place, found, walk
from paddle_lab.trace.trees import rows_by
from paddle_lab.words import Text

_MOST_MARKS = 8


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines of parameters that no gradient reached."""
    if not facts.user_backward_calls:
        return
    cuts = facts.answer(GradientCuts)
    trained = cuts.trained
    reached = [one for one in cuts.reach.leaves if one in trained.creation_lines]
    groups: dict[tuple[Place, str], list[int]] = {}
    for parameter in _wanted(facts, cuts):
        if (call := cuts.reach.call_past(parameter)) >= 0:
            key = facts.place_of_call(call), "not_asked"
        elif (end := _end(facts, trained.used.get(parameter, ()))) is not None:
            key = end, "dropped"
        else:
            place = trained.creation_place([parameter], reached)
            is_used = parameter in trained.used
            key = place if place.line else _step_place(facts), "aside" if is_used else "unused"
        groups.setdefault(key, []).append(parameter)
    for (place, why), parameters in groups.items():
        yield _found(facts, cuts, place, parameters, why)


def _wanted(facts: Facts, cuts: GradientCuts) -> list[int]:
    trained, leaves, lines = cuts.trained, cuts.reach.leaves, cuts.trained.creation_lines
    candidates = set(trained.holders)
    if candidates and not trained.steps:
        # No optimizer stepped here: take the optimizers that hold a parameter with a gradient.
        training = {one for leaf in leaves for one in trained.holders.get(leaf, ())}
        candidates = {one for one in candidates if training.intersection(trained.holders[one])}
    elif not candidates:
        models = {lines[one][-1] for one in leaves if lines.get(one)}
        candidates = {
            one for one, made_at in lines.items()
            if facts.path(one) and made_at and made_at[-1] in models
        }  # fmt: skip
    return sorted(
        one
        for one in candidates - trained.updated - leaves - cuts.cut_parameters
        if trained.wants_gradient(one)
        and one not in cuts.reach.kept_away
        # A parameter that ``paddle.grad`` was not asked for counts only if an optimizer steps. For
        # backward calls without any graph, ``gradient-cut`` names the line.
        and (one not in cuts.reach.left_aside or (trained.steps and not cuts.rootless))
    )


def _end(facts: Facts, ops: Sequence[int]) -> Place | None:
    """Return the line of the last results that depend on some ops, None for several or a loss."""
    edges = facts.record.op_edges
    after = rows_by(edges["source"], edges["target"], facts.op_count)
    lasts = [op for op in walk(ops, after) if not after(op)]
    roots = {
        facts.op_of_node(one) for call in facts.user_backward_calls for one in facts.roots(call)
    }
    ends = set() if roots.intersection(lasts) else set(map(facts.place, lasts))
    return ends.pop() if len(ends) == 1 and all(place.line for place in ends) else None


def _step_place(facts: Facts) -> Place:
    if facts.step_ops:
        return facts.place(facts.step_ops[0][0])
    return facts.place_of_call(facts.user_backward_calls[-1])


def _found(
    facts: Facts, cuts: GradientCuts, place: Place, parameters: list[int], why: str
) -> Found:
    trained = cuts.trained
    is_chosen = why == "unused" and all(map(trained.is_alternative, parameters))
    uses = [op for one in parameters for op in trained.used.get(one, ())[:1]]
    makers = [facts.producer(one) for one in parameters if facts.producer(one) >= 0]
    is_held = any(one in trained.holders for one in parameters)
    is_asked = why != "not_asked"
    made = "found" if trained.creation_lines.keys() & parameters else "found_before"
    key = why if why in {"not_asked", "dropped"} else made
    why = f"findings.unreached-parameter.{'chosen' if is_chosen else why}"
    return found(
        f"unreached-parameter.{key}",
        place,
        next(iter([*uses, *makers]), -1),
        severity="warning" if is_held and not is_chosen else "info",
        advice=None if is_asked else Text("findings.unreached-parameter.not_asked_advice"),
        marks=[Mark("related", op) for op in uses[:_MOST_MARKS]],
        names=trained.names(parameters),
        why=Text(why, n=len(parameters)),
    )


CHECK = Check(
    find=find,
    example="self.skip = nn.Linear(4, 4)  # and forward() never calls it",
    consequence_of=("gradient-cut",),
    holds_on=(),  # a backward call in another part may reach the parameters
)
