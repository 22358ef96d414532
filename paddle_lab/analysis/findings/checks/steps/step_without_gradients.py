"""Every step found no gradients, or only zeros, although backward ran.

Contract (``Optimizer.step``): backward computes the gradients before the step, and they are cleared
after the step.

The check reports an optimizer if each examined step found no gradients and some backward call
reached the optimizer's parameters. The order of the calls must explain why. So steps with a reward
or weight of zero are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Called, Step, Training
from paddle_lab.analysis.findings.finding import Found, warning

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
    for steps in training.steps_of.values():
        looked = [step for step in steps if step.row in training.looked]
        if len(looked) < _FEWEST or len(calls) < _FEWEST:
            continue
        found = [row for step in looked for row in training.looked[step.row]]
        if any(row[1] == _VALUES for row in found):
            continue
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


CHECK = Check(
    find=find,
    example="loss.backward()\nopt.clear_grad()\nopt.step()",
    holds_on=(),
)
