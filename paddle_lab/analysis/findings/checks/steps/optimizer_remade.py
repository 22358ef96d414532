"""A new optimizer was made for each step of the same parameters.

Contract: Adam, Momentum and others keep averages from step to step. A new optimizer begins with
averages of zero.

The check does not report SGD, which has no averages, or optimizers that made several steps. Nor
does it report optimizers of new parameters, as in meta-learning.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Place, Training, warning

_FEWEST = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that make a new optimizer for each step."""
    training = facts.answer(Training)
    text, names = facts.record.text, facts.record.optimizers["class"]
    kinds = {text(int(code)) for code in names}
    if kinds <= {"SGD"}:
        return
    made: dict[Place, list[int]] = {}
    for call in training.called("Optimizer.__init__"):
        number = int(call.detail[0]) if call.detail and call.detail[0] else -1
        if len(training.steps_of.get(number, ())) == 1:
            made.setdefault(training.place(call), []).append(number)
    for place, numbers in made.items():
        held = [
            frozenset(row[0] for row in training.looked.get(training.steps_of[number][0].row, ()))
            for number in numbers
        ]
        same = [one for one in held if one and one == held[0]]
        if len(same) >= _FEWEST and "SGD" not in kinds:
            yield warning("optimizer-remade.found", place, -1, n=len(same))


CHECK = Check(find, example="for x, y in loader:\n    opt = Adam(parameters=net.parameters())")
