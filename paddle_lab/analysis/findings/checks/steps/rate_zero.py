"""Steps ran with a learning rate of zero, so they changed nothing.

Contract: every step changes the parameters. A schedule may begin or end with one or two steps at a
rate of zero; the check reports three such steps in a row, or two at the end of up to eight.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Training, warning
from paddle_lab.analysis.source.stacks import stack_of

_FEWEST = 3
_NOTHING = 1e-6
"""A rate counts as zero if it is at most this share of the highest rate so far."""


def find(facts: Facts) -> Iterator[Found]:
    """Yield the optimizers whose learning rate was almost zero in several steps in a row."""
    training = facts.answer(Training)
    for number, steps in training.steps_of.items():
        at, run = -1, 0
        highest = 0.0
        for index, step in enumerate(steps):
            highest = max(highest, step.rate)
            run = run + 1 if step.rate <= highest * _NOTHING else 0
            is_rest = index == len(steps) - 1 and run == _FEWEST - 1 < index and run * 4 > index
            if run == _FEWEST or is_rest:
                at = index
        if at < 0:
            continue
        zeros = sum(step.rate <= highest * _NOTHING for step in steps)
        key, place = _why(training, number, steps[at].schedule)
        op = steps[at].first_op
        yield warning(f"rate-zero.{key}", place, op, n=zeros, steps=len(steps),
                      schedule=steps[at].schedule.split(" ")[0])  # fmt: skip


def _why(training: Training, number: int, schedule: str) -> tuple[str, Place]:
    if not schedule:
        return "number", training.made_at(number)
    if moved := training.schedule_steps.get(schedule):
        made = training.called("LRScheduler.__init__")
        made = [call for call in made if " ".join(call.detail) == schedule]
        # ``Model.fit`` steps the schedule by itself: then only its length can be changed.
        is_users = stack_of(training.facts.record, moved[0].event.stack)[0].kind == "user"
        return "ended", training.place(moved[0] if is_users or not made else made[0])
    place = next(map(training.step_place, training.steps_of[number]), Place())
    return "not_stepped", place


CHECK = Check(
    find=find,
    example="warmup = LinearWarmup(1e-3, 100, 0.0, 1e-3)  # and warmup.step() is never called",
)
