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

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_FEWEST = 2


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that made such a schedule."""
    training = facts.answer(Training)
    for call in training.called("schedule_length"):
        length, names = call.detail[0], (" ".join(call.detail[1:]), "LinearWarmup ")
        own = [step for step in training.steps if step.schedule.startswith(names)]
        turns = [tuple(training.turns_around(step.scope)) for step in own]
        is_nested = min(map(len, turns), default=0) >= _FEWEST
        if not is_nested or not any(step.rate for step in own[-_FEWEST:]):  # or see rate_zero.py
            continue
        rates: dict[tuple[int, int], list[float]] = {}
        for step, around in zip(own, turns, strict=True):
            rates.setdefault(around[-1], []).append(step.rate)
        if min(map(len, [rates, *rates.values()])) < _FEWEST or len(own) != len({*turns}):
            continue  # or several optimizers have the schedule
        is_moved = [len(set(epoch)) > 1 for epoch in rates.values()]
        key = {str(len(own)): "steps", str(len(rates)): "epochs"}.get(length, "")
        if (key == "epochs" and is_moved[0]) or (key == "steps" and not any(is_moved)):
            yield warning(f"schedule-units.{key}", training.place(call), -1, n=len(own),
                          schedule=call.detail[1], length=length, epochs=len(rates))  # fmt: skip


CHECK = Check(find, example="CosineAnnealingDecay(0.1, epochs)  # and step() after each batch")
