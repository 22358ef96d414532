"""The seed was set to the same number before each step.

Contract (``paddle.seed``, ``numpy.random.seed``): the same seed gives the same dropout, noise and
random batches again.

The check reports a line that set the same seed at least three times, with one training step in
between, if the steps used random numbers. It also reports a ``worker_init_fn`` that sets the same
seed in each worker of a loader. It does not report different seeds, or a seed before each
whole run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.facts.training import Called, Training
from paddle_lab.analysis.findings.finding import Found, Place, warning

_FEWEST = 3
_RANDOM = frozenset(
    ("gaussian", "uniform", "dropout", "bernoulli", "randint", "randperm", "multinomial",
     "standard_gamma", "poisson", "truncated_gaussian_random", "exponential_", "uniform_")
)  # fmt: skip


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that set the same seed again."""
    training = facts.answer(Training)
    for call in training.called("worker_init_fn")[:1]:
        yield warning("same-seed.workers", training.place(call), -1)
    seeds: dict[tuple[Place, str], list[Called]] = {}
    for call in training.called("seed"):
        seeds.setdefault((training.place(call), " ".join(call.detail)), []).append(call)
    steps = sorted(step.first_op for step in training.steps if step.first_op >= 0)
    random = facts.ops_named(_RANDOM)
    numbers = {step.number for step in training.steps}
    for (place, seed), calls in seeds.items():
        moments = [call.event.ops_before for call in calls]
        if len(calls) < _FEWEST or len(numbers) > 2:
            continue
        spans = list(pairwise(moments))
        has_steps = all(
            bisect_left(steps, end) == bisect_left(steps, start) + 1 for start, end in spans
        )
        has_random = all(
            bisect_left(random, end) > bisect_left(random, start) for start, end in spans
        )
        if has_steps and (has_random or _repeats(training, spans)):
            yield warning("same-seed.found", place, -1, n=len(calls), seed=seed)


def _repeats(training: Training, spans: list[tuple[int, int]]) -> bool:
    """Tell whether the ops after each setting of the seed read the same data."""
    facts, found = training.facts, set()
    for start, end in spans:
        seen = [training.glance(one) for op in range(start, end) for one in facts.inputs(op)]
        found.add(frozenset(one.digest for one in seen if one is not None and one.elements > 8))
    return len(found) == 1 and found != {frozenset()}


CHECK = Check(
    find=find,
    example="for x, y in loader:\n    paddle.seed(0)",
    holds_on=(),
)
