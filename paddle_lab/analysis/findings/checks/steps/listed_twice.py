"""An optimizer holds a parameter twice, and updates it twice in each step.

Contract: each parameter is in ``parameters=`` once. Paddle does not check this.

The check does not report tied weights that ``parameters()`` lists once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.parts import KEEPS, Check, Facts, Found, Training, warning
from paddle_lab.words import listing


def find(facts: Facts) -> Iterator[Found]:
    """Yield optimizers with repeated parameters."""
    training = facts.answer(Training)
    table = facts.record.optimizer_parameters
    counted = Counter(
        zip(table["optimizer"].tolist(), facts.first_values[table["tensor"]].tolist(), strict=True)
    )
    stepped = np.flatnonzero(facts.record.optimizers["steps"] > 0).tolist()
    for at, optimizer in enumerate(stepped):
        twice = [
            tensor for (held_by, tensor), n in counted.items() if held_by == optimizer and n > 1
        ]
        if twice:
            numbers = sorted(training.steps_of)
            place = training.made_at(numbers[at] if at < len(numbers) else -1)
            names = [facts.path(one) or facts.tensor_name(one) for one in twice]
            yield warning("listed-twice.found", place, -1, n=len(twice), names=listing(names[:4]))


CHECK = Check(find, example="SGD(parameters=a.parameters() + a.parameters())", holds_on=KEEPS)
