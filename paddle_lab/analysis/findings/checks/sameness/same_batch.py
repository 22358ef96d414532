"""Each step got the first batch, because each step started the loader again.

Contract (``DataLoader``): each ``iter(loader)`` begins at the first batch.

The check reports a line that started the same loader for each backward call, if the loader has
several batches and does not shuffle. It does not report a batch that is read once and used again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Called, Training
from paddle_lab.analysis.findings.finding import Found, Place, warning

_FEWEST = 3


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that start a loader in each step."""
    training = facts.answer(Training)
    starts: dict[tuple[Place, str], list[Called]] = {}
    for call in training.called("DataLoader.__iter__"):
        starts.setdefault((training.place(call), call.detail[0]), []).append(call)
    backward = [facts.ops_before(call) for call in facts.user_backward_calls]
    for (place, _), calls in starts.items():
        if len(calls) < _FEWEST or int(calls[0].detail[1]) < 2:
            continue
        moments = [call.event.ops_before for call in calls]
        between = [sum(one < at <= other for at in backward) for one, other in pairwise(moments)]
        if between and set(between) == {1} and calls[0].detail[2] == "SequenceSampler":
            yield warning("same-batch.found", place, -1, n=len(calls), batches=calls[0].detail[1])


CHECK = Check(
    find=find,
    example="for step in range(1000):\n    x, y = next(iter(loader))",
    holds_on=(),
)
