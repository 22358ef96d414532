"""The seed was set to the same number before each step, or for two nets trained side by side.

Contract (``paddle.seed``, ``numpy.random.seed``): the same seed gives the same dropout, noise and
random batches again.

The check reports a line that set the same seed at least three times, with one training step in
between, if the steps used random numbers. It also reports a ``worker_init_fn`` that sets the same
seed in each worker of a loader, and a ``__getitem__`` that draws the same numbers for each item of
a training loader. It does not report different seeds, or a seed before each whole run.

Members of an ensemble start from different weights (Lakshminarayanan et al. 2017), and so do twin
critics. The check reports two optimizers whose steps alternate and whose nets read the same data,
if all examined weights were equal before and after each step. Replicas read different data.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import Called, Check, Facts, Found, Place, Training, warning

_FEWEST = 3
_RANDOM = frozenset(
    ("gaussian", "uniform", "dropout", "bernoulli", "randint", "randperm", "multinomial",
     "standard_gamma", "poisson", "truncated_gaussian_random", "exponential_", "uniform_")
)  # fmt: skip


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines that set the same seed again."""
    training = facts.answer(Training)
    yield from _in_loaders(training)
    yield from _equal_nets(training)
    seeds: dict[tuple[Place, str], list[Called]] = {}
    for call in training.called("seed", "default_rng"):
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
        has_random = calls[0].name == "seed" and all(  # other generators may be for other things
            bisect_left(random, end) > bisect_left(random, start) for start, end in spans
        )
        if has_steps and (has_random or _repeats(training, spans)):
            yield warning("same-seed.found", place, -1, n=len(calls), seed=seed)


def _in_loaders(training: Training) -> Iterator[Found]:
    """Yield the lines that draw the same numbers in each worker, or for each item to learn."""
    facts = training.facts
    starts = [call.event.ops_before for call in training.called("DataLoader.__iter__")]
    learnt = [facts.ops_before(call) for call in facts.user_backward_calls]
    for call in training.called("worker_init_fn", "item_seed"):
        begin, key = call.event.ops_before, "workers" if call.name[0] == "w" else "items"
        end = next((at for at in starts if at > begin), facts.op_count)
        if key == "workers" or any(begin < at <= end for at in learnt):
            yield warning(f"same-seed.{key}", training.place(call))


def _repeats(training: Training, spans: list[tuple[int, int]]) -> bool:
    """Tell whether the ops after each setting of the seed read new tensors with the same data."""
    facts, found = training.facts, list[dict[int, int]]()
    is_used = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    for start, end in spans:
        if not is_used[next((op for op in range(start, end) if op in facts.fed_ops), 0)]:
            return False  # what follows the seed is an evaluation
        read = {facts.first_value(one) for op in range(start, end) for one in facts.inputs(op)}
        seen = ((one, training.glance(one)) for one in read)
        found.append({one: at.digest for one, at in seen if at is not None and at.elements > 8})
    is_same = all(found) and len({frozenset(one.values()) for one in found}) == 1
    return is_same and not set(found[0]).intersection(*found[1:])


def _equal_nets(training: Training) -> Iterator[Found]:
    """Yield the lines that give two nets the same weights."""
    seen: dict[tuple[tuple[int, int], ...], int] = {}
    for number, steps in training.steps_of.items():
        looks = [row for step in steps for row in training.looked.get(step.row, ())]
        key = tuple((before, after) for *_, before, after in looks)
        is_changed = len(steps) >= _FEWEST and any(changed for _, _, changed, *_ in looks)
        first = seen.setdefault(key, number) if is_changed else number
        tensors = {row[0] for row in looks}
        own = training.examined(first)
        is_beside = first != number and steps[0].scope < training.steps_of[first][-1].scope
        if not is_beside or tensors & own or not _data(training, own) & _data(training, tensors):
            continue
        places = [training.creation_place(min(one)) for one in (tensors, own)]
        calls = [(training.place(call), call.detail) for call in training.called("seed")]
        seeds = [place for place, detail in calls if calls.count((place, detail)) > 1]
        place = seeds[0] if seeds else places[0]
        yield warning("same-seed.nets", place if place.line else training.made_at(number), -1)
        return


def _data(training: Training, parameters: set[int]) -> set[int]:
    """Return the tensors that no parameter influences and that ops read with some parameters."""
    facts = training.facts
    read = {facts.inputs(op)[0] for one in parameters for op in training.readings(one)}
    return {tensor for tensor in read if not training.is_fed(tensor)}


CHECK = Check(find, example="for x, y in loader:\n    paddle.seed(0)")
