"""A schedule counts epochs and is stepped for each batch, or the other way round.

Contract (``CosineAnnealingDecay``, ``PolynomialDecay``): ``T_max`` or ``decay_steps`` is how often
``step()`` is called in the whole training.

The check reports a schedule whose length is exactly the number of epochs of the loop, although its
rate changes within the epochs, and one whose length is exactly the number of all optimizer steps,
although its rate changes only between epochs. It does not report other lengths, because a trace
may see a part of the training, and does not report training in a single loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Step, Training, warning

_FEWEST = 2


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that made such a schedule."""
    training = facts.answer(Training)
    for call in training.called("schedule_length"):
        length, *schedule = int(call.detail[0]), *call.detail[1:]
        own = [step for step in training.steps if _runs(step, " ".join(schedule))]
        epochs = _epochs(training, own) if len({step.number for step in own}) == 1 else []
        if len(epochs) < _FEWEST or min(map(len, epochs)) < _FEWEST:
            continue
        if not any(step.rate for step in own[-_FEWEST:]):  # the check ``rate-zero`` reports this
            continue
        changes = [len({step.rate for step in epoch}) > 1 for epoch in epochs]
        names = {"schedule": schedule[0], "length": length, "n": len(own), "epochs": len(epochs)}
        key = "epochs" if length == len(epochs) else "steps" if length == len(own) else ""
        if (key == "epochs" and changes[0]) or (key == "steps" and not any(changes)):
            yield warning(f"schedule-units.{key}", training.place(call), own[0].first_op, **names)


def _runs(step: Step, schedule: str) -> bool:
    """Tell whether a step had a rate of this schedule, which a warm-up may contain."""
    return step.schedule == schedule or step.schedule.startswith("LinearWarmup ")


def _epochs(training: Training, steps: list[Step]) -> list[list[Step]]:
    """Return the steps of each iteration of the outermost loop; none for a single loop."""
    turns = {step.row: training.turns_around(step.scope) for step in steps}
    if not turns or min(map(len, turns.values())) < _FEWEST:
        return []
    return [list(group) for _, group in groupby(steps, key=lambda step: turns[step.row][-1])]


CHECK = Check(
    find=find,
    example="CosineAnnealingDecay(0.1, T_max=epochs)  # and step() after each batch",
    holds_on=(),
)
