"""A schedule has no effect: no optimizer has the scheduler, or ``step()`` is never called.

Contract (``paddle.optimizer.lr``): the optimizer gets the scheduler object, and the scheduler's
``step()`` is called once per epoch or batch. Each optimizer has its own.

A missing ``step()`` is reported after two epochs, or after three iterations of a single loop. The
check also reports ``opt.learning_rate = …`` and other settings, because no method reads them. It
does not report a scheduler that was made before the trace or that another scheduler wraps, or code
that sets the rate by ``set_lr``.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.parts import Called, Facts, Found, Place, Step, Training, warning

_FEWEST = 2


def find(facts: Facts) -> Iterator[Found]:
    """Yield the schedulers that no optimizer has, or whose ``step()`` is never called."""
    training = facts.answer(Training)
    for call in training.called("lost_setting"):
        kind, name = call.detail
        yield warning("schedule-unused.attribute", training.place(call), kind=kind, name=name)
    moved = training.schedule_steps
    attached = {step.schedule for step in training.steps}
    wraps = any(one.startswith(("LinearWarmup", "Sequential", "Chained")) for one in attached)
    for call in training.called("LRScheduler.__init__"):
        schedule = " ".join(call.detail)
        if schedule in attached and schedule not in moved:
            yield from _not_stepped(training, schedule)
        elif len(moved.get(schedule, ())) >= _FEWEST and schedule not in attached and not wraps:
            yield from _not_attached(training, call, attached)


def _not_stepped(training: Training, schedule: str) -> Iterator[Found]:
    steps = [step for step in training.steps if step.schedule == schedule]
    if not _has_epochs(training, steps) or len({step.rate for step in steps}) > 1:
        return
    if steps[0].rate == 0:  # the check ``rate-zero`` reports this
        return
    place = next((place for step in steps if (place := training.step_place(step)).line), Place())
    name, rate = schedule.partition(" ")[0], f"{steps[0].rate:.4g}"
    key, op = "schedule-unused.not_stepped", steps[0].first_op
    yield warning(key, place, op, n=len(steps), schedule=name, rate=rate)


def _has_epochs(training: Training, steps: list[Step]) -> bool:
    """Tell whether steps ran in two iterations of an outer loop, or in three of a single loop."""
    turns = [training.turns_around(step.scope) for step in steps]
    deep = [around for around in turns if around]
    if not deep:
        return False
    if min(map(len, deep)) > 1:
        return len({around[-1] for around in deep}) >= _FEWEST
    return len({around[0] for around in deep}) > _FEWEST


def _not_attached(training: Training, call: Called, attached: set[str]) -> Iterator[Found]:
    numbers = {step.number for step in training.steps if not step.schedule}
    for schedule in attached - {""}:
        own = {step.number for step in training.steps if step.schedule == schedule}
        if len(own) > 1 and not numbers and schedule.startswith(call.detail[0]):
            yield warning("schedule-unused.shared", training.made_at(max(own)), -1,
                          schedule=call.detail[0], made=training.place(call))  # fmt: skip
    if len(numbers) != 1 or attached != {""}:
        return
    if len({step.rate for step in training.steps}) > 1:
        return
    number = numbers.pop()
    yield warning("schedule-unused.not_attached", training.made_at(number), -1,
                  schedule=call.detail[0], made=training.place(call))  # fmt: skip


CHECK = Check(find, example="opt = Adam(schedule.get_lr(), parameters=net.parameters())")
