"""Every step found no gradients, or only zeros, although backward ran.

Contract (``Optimizer.step``): backward computes the gradients before the step, and they are cleared
after the step.

The check reports an optimizer if each examined step found no gradients and some backward call
reached the optimizer's parameters. The order of the calls must explain why. So steps with a reward
or weight of zero are not reported.

It also reports steps of frozen parameters only, and a loop that goes on with backward calls, but
without steps, and micro-batches whose gradients are cleared before the next one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.finding import Found, warning
from paddle_lab.analysis.findings.gradients.cuts import GradientCuts
from paddle_lab.analysis.findings.parts import PARAMETER, Called, Facts, Step, Training

_FEWEST = 2
_VALUES = 2


def find(facts: Facts) -> Iterator[Found]:
    """Yield steps before backward, clears before the step, and optimizers without any step."""
    training = facts.answer(Training)
    calls = [call for call in facts.user_backward_calls if not facts.is_paddle_grad(call)]
    cleared = [one for one in training.called("clear_grad") if one.detail[-1:] != [""]]
    made = training.called("Optimizer.__init__")
    is_enough = len(calls) > _FEWEST and len(cleared) > _FEWEST and len(made) == 1
    if is_enough and not (facts.record.optimizers["steps"] > 0).any():
        yield warning("step-without-gradients.never", training.place(cleared[0]), n=len(calls))
    yield from _frozen(training, calls)
    if len(training.steps_of) == 1:
        yield from _discarded(training, calls, cleared)
        yield from _stopped(training, calls, len(cleared))
    for number, steps in training.steps_of.items():
        looked = [step for step in steps if step.row in training.looked]
        if len(looked) < _FEWEST or len(calls) < _FEWEST:
            continue
        found = [row for step in looked for row in training.looked[step.row]]
        used = {row[0] for step in training.steps if step.number != number
                for row in training.looked.get(step.row, ()) if row[1] == _VALUES}  # fmt: skip
        if any(row[1] == _VALUES or row[0] in used for row in found):
            continue  # the check ``optimizer-of-others`` reports parameters of two optimizers
        reached = facts.leaves_of_nodes(facts.nodes_of_calls(calls))
        if not reached.intersection(row[0] for row in found):
            continue
        clears = [one for one in training.called("clear_grad", "clear_gradients")
                  if _is_between(training, one, calls, steps)]  # fmt: skip
        if _comes_first(training, steps, calls):
            place = training.step_place(steps[-1])
            yield warning("step-without-gradients.early", place, steps[-1].first_op, n=len(looked))
        elif clears:
            yield warning("step-without-gradients.cleared", training.place(clears[0]),
                          steps[0].first_op, n=len(looked))  # fmt: skip


def _frozen(training: Training, calls: list[int]) -> Iterator[Found]:
    """Yield the line that froze the last parameter, if steps ran and all parameters are frozen."""
    facts, cuts = training.facts, training.facts.answer(GradientCuts)
    held = cuts.trained.holders.keys()
    if len(training.steps) < _FEWEST or not calls or not held or held - cuts.trained.frozen:
        return
    stops = [event for event in facts.events("gradient_stopped") if event.tensor >= 0]
    lines = [event.stack for event in stops if facts.first_value(event.tensor) in held]
    if lines and not held & (cuts.reach.leaves | cuts.trained.updated):
        place = facts.place_of_stack(lines[-1])
        yield warning("step-without-gradients.frozen", place, n=len(training.steps))


def _stopped(training: Training, calls: list[int], clears: int) -> Iterator[Found]:
    """Yield the line of the last step, if the loop then goes on without steps."""
    facts, scopes, steps = training.facts, training.backward_scopes, training.steps
    stacks = {int(facts.record.backward_calls["stack"][call]) for call in calls}
    later = [call for call in calls if scopes.get(call, -1) > steps[-1].scope]
    is_each = len(calls) - len(later) - len(steps) in {0, 1} and len(stacks) == 1
    is_scaled = bool(training.called("scale"))  # a GradScaler leaves out steps
    if not is_each or is_scaled or len(steps) < _FEWEST or clears <= len(steps) + _FEWEST:
        return
    if len(later) > _FEWEST:
        place = training.step_place(steps[-1])
        yield warning("step-without-gradients.stopped", place, steps[-1].last_op, n=len(later))


def _discarded(training: Training, calls: list[int], cleared: list[Called]) -> Iterator[Found]:
    """Yield the line that clears gradients between the micro-batches of each step.

    Code that reads gradients may clear them then, and so may an attack on the data.
    """
    facts, ends = training.facts, [step.first_op for step in training.steps]
    begins = [facts.ops_before(call) for call in calls]
    counts = Counter(bisect_left(ends, at) for at in begins if at <= ends[-1])
    stacks = {int(facts.record.backward_calls["stack"][call]) for call in calls}
    most = max(counts.values(), default=0)
    is_each = len(stacks) == 1 and most > 1 and set(counts.values()) == {most}
    if not is_each or len(counts) < _FEWEST or len(cleared) < len(calls) - 1:
        return
    moments = [call.event.ops_before for call in cleared]
    gaps = [any(a <= at <= b for at in moments) for a, b in pairwise(begins)]
    leaves = facts.leaves_of_nodes(facts.nodes_of_calls(calls))
    if (
        all(gaps)
        and not training.reads_gradients
        and all(facts.tensor_kind(one) == PARAMETER for one in leaves)
    ):
        place = training.place(cleared[-1])
        yield warning("step-without-gradients.discarded", place, n=most - 1, all=most)


def _is_between(training: Training, clear: Called, calls: list[int], steps: list[Step]) -> bool:
    """Tell whether a clear is after a backward call, and before a later step and backward call."""
    facts = training.facts
    before = [call for call in calls if facts.ops_before(call) <= clear.event.ops_before]
    if not before or clear.event.ops_before > facts.ops_before(before[-1]):
        return False
    return any(step.first_op >= clear.event.ops_before for step in steps)


def _comes_first(training: Training, steps: list[Step], calls: list[int]) -> bool:
    scopes = training.backward_scopes
    first = min((scopes[call] for call in calls if call in scopes), default=-1)
    return steps[0].scope < first


CHECK = Check(find, example="loss.backward()\nopt.clear_grad()\nopt.step()")
