"""Parameters created here are given to an optimizer and got no gradient.

A layer that ``forward`` never calls, one whose output nobody uses, or a model that was built anew
after the optimizer: the parameters are counted, saved and shipped, and keep their initial values.

Or a loss whose gradients ``paddle.grad`` was asked for, but not those of these parameters. Where
its ``no_grad_vars`` keep gradients from them, that is meant, and but a hint.

It is an alarm where a backward call ran and no gradient came to a trainable parameter in the whole
trace although an optimizer that stepped holds it; in a trace without a step, where its optimizer
holds others that were reached. Where no optimizer is known it is a hint, and so it is for those
that are chosen from in each step, as experts are. Frozen parameters are none, nor are those for
which ``gradient-cut`` names the line, nor those the optimizer updated with gradients of before.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.analysis.findings.gradients.alternatives import is_alternative
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.trained import Trained, listed
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text

_MOST_MARKS = 8


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose parameters no gradient came to."""
    if not facts.user_backward_calls:
        return
    cuts, creations = facts.answer(GradientCuts), facts.answer(Creations)
    reached = [one for one in cuts.reach.leaves if one in creations.lines]
    groups: dict[tuple[Place, bool], list[int]] = {}
    asked_for_others: dict[tuple[Place, bool], list[int]] = {}
    for parameter in _wanted(facts, cuts, creations):
        if (call := cuts.reach.call_past(parameter)) >= 0:
            key = facts.place_of_call(call), parameter not in cuts.reach.stopped
            asked_for_others.setdefault(key, []).append(parameter)
        else:
            place = creations.place([parameter], reached)
            key = place if place.line else _step_place(facts), parameter in cuts.trained.used
            groups.setdefault(key, []).append(parameter)
    for (place, is_used), parameters in groups.items():
        yield _found(facts, cuts, place, parameters, is_used=is_used)
    for (place, is_left_aside), parameters in asked_for_others.items():
        yield _gone_past(cuts.trained, place, parameters, is_left_aside=is_left_aside)


def _wanted(facts: Facts, cuts: GradientCuts, creations: Creations) -> list[int]:
    trained = cuts.trained
    candidates = set(trained.holders)
    if candidates and not trained.steps:
        # No optimizer stepped here: take those that hold a parameter which a gradient reached.
        training = {one for leaf in cuts.reach.leaves for one in trained.holders.get(leaf, ())}
        candidates = {
            one for one, holders in trained.holders.items() if training.intersection(holders)
        }
    elif not candidates:
        models = {creations.lines[one][-1] for one in cuts.reach.leaves if creations.lines.get(one)}
        candidates = {
            one
            for one, lines in creations.lines.items()
            if facts.path(one) and lines and lines[-1] in models
        }
    return sorted(
        one
        for one in candidates
        if trained.wants_gradient(one)
        and one not in trained.updated
        and one not in cuts.reach.leaves
        and one not in cuts.cut_parameters
        # A parameter that ``paddle.grad`` was not asked for counts only if an optimizer steps. For
        # backward calls without any graph, ``gradient-cut`` names the line.
        and (one not in cuts.reach.left_aside or (trained.steps and not cuts.rootless))
    )


def _is_other_model(cuts: GradientCuts, parameters: list[int]) -> bool:
    """Tell whether gradients reached a model that no optimizer holds, instead of this one."""
    trained = cuts.trained
    optimizers = {holder for one in parameters for holder in trained.holders.get(one, ())}
    held = [one for one, holders in trained.holders.items() if optimizers.intersection(holders)]
    strangers = [one for one in cuts.reach.leaves if one in trained.used]
    return (
        bool(held)
        and not any(one in cuts.reach.leaves or one in cuts.cut_parameters for one in held)
        and any(one not in trained.holders for one in strangers)
    )


def _step_place(facts: Facts) -> Place:
    if facts.step_ops:
        return facts.place(facts.step_ops[0][0])
    return facts.place_of_call(facts.user_backward_calls[-1])


def _found(
    facts: Facts, cuts: GradientCuts, place: Place, parameters: list[int], *, is_used: bool
) -> Found:
    trained, is_other = cuts.trained, _is_other_model(cuts, parameters)
    is_chosen = not is_used and all(is_alternative(facts, one) for one in parameters)
    key = "chosen" if is_chosen else "other" if is_other else "aside" if is_used else "unused"
    if len(parameters) == 1 and key in ("aside", "unused"):
        key += "_one"
    uses = _first_uses(trained, parameters)
    makers = [facts.producer(one) for one in parameters if facts.producer(one) >= 0]
    is_held = any(one in trained.holders for one in parameters)
    is_created_here = any(one in facts.answer(Creations).lines for one in parameters)
    return Found(
        place=place,
        op=next(iter([*uses, *makers]), -1),
        severity="warning" if is_held and not is_chosen else "info",
        message=Text(
            f"findings.unreached-parameter.{'found' if is_created_here else 'found_before'}",
            names=_names(trained, parameters),
            place=place,
            why=Text(f"findings.unreached-parameter.{key}"),
        ),
        advice=Text("findings.unreached-parameter.other_advice") if key == "other" else None,
        marks=[Mark("related", op=op) for op in uses[:_MOST_MARKS]],
    )


def _gone_past(
    trained: Trained, place: Place, parameters: list[int], *, is_left_aside: bool
) -> Found:
    """Return what is said of parameters that ``paddle.grad`` passed, asked for other gradients.

    They were left aside, or ``no_grad_vars`` kept gradients from them.
    """
    uses = _first_uses(trained, parameters)
    key = f"findings.asked-for-others.{'left_aside' if is_left_aside else 'kept_away'}"
    return Found(
        place=place,
        op=next(iter(uses), -1),
        severity="warning" if is_left_aside else "info",
        message=Text(
            "findings.asked-for-others.gone_past",
            names=_names(trained, parameters),
            place=place,
            why=Text(f"{key}_why"),
        ),
        advice=Text(f"{key}_advice"),
        marks=[Mark("related", op=op) for op in uses[:_MOST_MARKS]],
    )


def _first_uses(trained: Trained, parameters: list[int]) -> list[int]:
    return [op for one in parameters for op in trained.used.get(one, ())[:1]]


def _names(trained: Trained, parameters: list[int]) -> Text | str:
    return listed(sorted(map(trained.name, parameters)))


CHECK = Check(
    kind="unreached-parameter",
    find=find,
    example="self.skip = nn.Linear(4, 4)  # and forward() never calls it",
    consequence_of=("gradient-cut",),
    holds_on=(),  # a backward call that reaches it may be in another part
)
