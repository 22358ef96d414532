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
from paddle_lab.analysis.findings.finding import Found, Mark, Severity
from paddle_lab.analysis.findings.gradients.alternatives import Chosen
from paddle_lab.analysis.findings.gradients.asked_for_others import kept_away, left_aside
from paddle_lab.analysis.findings.gradients.creations import Creations
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.gradients.trained import Trained, listed
from paddle_lab.analysis.findings.place import Place
from paddle_lab.words import Text

_UNUSED = Text("findings.unreached-parameter.unused")
_UNUSED_ONE = Text("findings.unreached-parameter.unused_one")
_ASIDE = Text("findings.unreached-parameter.aside")
_ASIDE_ONE = Text("findings.unreached-parameter.aside_one")
_CHOSEN = Text("findings.unreached-parameter.chosen")
_OTHER = Text("findings.unreached-parameter.other")


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose parameters no gradient came to."""
    if not facts.user_backward_calls:
        return
    cuts = GradientCuts.of(facts)
    trained, creations = cuts.trained, Creations(facts)
    reached = [one for one in cuts.reach.leaves if one in creations.lines]
    missed = [one for one in _wanted(facts, cuts, creations) if one not in trained.updated]
    groups: dict[tuple[Place, bool], list[int]] = {}
    asked_for_others: dict[Place, list[int]] = {}
    for parameter in missed:
        if (call := cuts.reach.call_past(parameter)) >= 0:
            asked_for_others.setdefault(facts.place_of_call(call), []).append(parameter)
            continue
        place = creations.place(parameter, reached)
        if not place.line:
            place = _step_place(facts)
        groups.setdefault((place, parameter in trained.used), []).append(parameter)
    chosen = Chosen(facts, trained, creations)
    for (place, is_used), parameters in groups.items():
        why = _why(cuts, parameters, is_used=is_used)
        if not is_used and all(map(chosen.is_one, parameters)):
            why = _CHOSEN
        yield _found(facts, cuts, place, parameters, why=why)
    for place, parameters in asked_for_others.items():
        stopped = [one for one in parameters if one in cuts.reach.stopped]
        others = [one for one in parameters if one not in cuts.reach.stopped]
        if stopped:
            yield kept_away(trained, place, stopped)
        if others:
            yield left_aside(trained, place, others)


def _wanted(facts: Facts, cuts: GradientCuts, creations: Creations) -> list[int]:
    trained = cuts.trained
    candidates = set(trained.holders)
    if candidates and not trained.steps:
        # Some turn of several may be traced; the optimizer of this one is known by what it trains.
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
        and one not in cuts.reach.leaves
        and one not in cuts.cut_parameters
        # Whoever asks for other gradients wants none of it, until an optimizer steps with it; of
        # backward calls that have nothing to do, ``gradient-cut`` names the line.
        and (one not in cuts.reach.left_aside or (trained.steps and not cuts.rootless))
    )


def _why(cuts: GradientCuts, parameters: list[int], *, is_used: bool) -> Text:
    if _is_other_model(cuts, parameters):
        return _OTHER
    if len(parameters) == 1:
        return _ASIDE_ONE if is_used else _UNUSED_ONE
    return _ASIDE if is_used else _UNUSED


def _is_other_model(cuts: GradientCuts, parameters: list[int]) -> bool:
    """Tell whether all that their optimizer holds stands still while parameters of none learn."""
    trained: Trained = cuts.trained
    optimizers = {holder for one in parameters for holder in trained.holders.get(one, ())}
    held = [one for one, holders in trained.holders.items() if optimizers.intersection(holders)]
    strangers = [one for one in cuts.reach.leaves if one in trained.used]
    return (
        bool(held)
        and not any(one in cuts.reach.leaves or one in cuts.cut_parameters for one in held)
        and any(one not in trained.holders for one in strangers)
    )


def _step_place(facts: Facts) -> Place:
    for ops in facts.step_ops:
        return facts.place(ops[0])
    return facts.place_of_call(facts.user_backward_calls[-1])


def _found(
    facts: Facts, cuts: GradientCuts, place: Place, parameters: list[int], *, why: Text
) -> Found:
    names = sorted(cuts.trained.name(one) for one in parameters)
    uses = [op for one in parameters for op in cuts.trained.used.get(one, ())[:1]]
    makers = [facts.producer(one) for one in parameters if facts.producer(one) >= 0]
    return Found(
        place=place,
        op=next(iter([*uses, *makers]), -1),
        severity=_severity(cuts.trained, parameters, why),
        message=Text(
            "findings.unreached-parameter.found", names=listed(names), place=place, why=why
        )
        if any(one in Creations(facts).lines for one in parameters)
        else Text(
            "findings.unreached-parameter.found_before", place=place, names=listed(names), why=why
        ),
        advice=_ANEW if why is _OTHER else None,
        marks=[Mark("related", op=op) for op in uses[:8]],
    )


def _severity(trained: Trained, parameters: list[int], why: Text) -> Severity:
    is_held = any(one in trained.holders for one in parameters)
    return "warning" if is_held and why is not _CHOSEN else "info"


_ANEW = Text("findings.unreached-parameter.other_advice")

CHECK = Check(
    kind="unreached-parameter",
    find=find,
    example="self.skip = nn.Linear(4, 4)  # and forward() never calls it",
    consequence_of=("gradient-cut",),
    holds_on=(),  # a backward call that reaches it may be in another part
)
