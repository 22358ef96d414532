"""Each step got the same batch or noise.

Contract (``DataLoader``): each ``iter(loader)`` begins at the first batch. The noise that a
diffusion model predicts is drawn for each step (Ho et al. 2020).

The check reports a line that started the same loader for each backward call, if the loader has
several batches and does not shuffle. It does not report a batch that is read once and used again.
It also reports noise that was drawn once, scaled and added to the data, and predicted in each step,
or multiplied with a trained deviation and added in each step (Kingma and Welling 2014).

Augmentation draws new numbers for each batch. The check reports noise that is made again for each
batch, with the same values, and that is added to or multiplied with different data of the same
shape. Constants such as tables, masks and means do not spread around 0 or 1 as noise does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.facts import PARAMETER
from paddle_lab.analysis.findings.facts.training import Glance
from paddle_lab.analysis.findings.parts import Called, Check, Facts, Found, Place, Training, warning

_FEWEST = 3
_LARGE = 64


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
    yield from _noise(training)
    yield from _augmented(training)


def _noise(training: Training) -> Iterator[Found]:
    """Yield the lines of noise that was drawn once and that three losses predict or results get."""
    facts = training.facts
    read: dict[tuple[int, int, int], list[int]] = {}
    for op in training.forward_ops("subtract", "huber_loss", "kldiv_loss", "multiply"):
        pair = facts.inputs(op)[:2]
        kinds, shapes = set(map(facts.tensor_kind, pair)), set(map(facts.shape, pair))
        is_fit = len(shapes) < len(pair) and PARAMETER not in kinds
        if is_fit and any(map(facts.needs_grad, facts.outputs(op))):
            for source in map(training.origin, pair):
                maker = facts.producer(source)
                if maker >= 0 and facts.op_name(maker) == "gaussian":
                    read.setdefault((source, maker, facts.stack(op)), []).append(op)
    for (source, maker, _), ops in read.items():
        times = {bisect_right(facts.step_ends, op) for op in ops}
        if len(times) >= _FEWEST and _is_mixed(training, source, len(ops)):
            yield warning("same-batch.noise", facts.place(maker), maker, n=len(ops))


def _augmented(training: Training) -> Iterator[Found]:
    """Yield the lines that add the same noise to each batch of data."""
    facts = training.facts
    seen: dict[int, list[tuple[int, int, int, int]]] = {}
    for op in training.forward_ops("add", "subtract", "multiply"):
        pair = facts.inputs(op)
        if len(pair) != 2 or facts.shape(pair[0]) != facts.shape(pair[1]):
            continue
        for noise, data in (pair, pair[::-1]):
            maker = training.origin_op(noise)
            is_multiple = maker >= 0 and facts.factor(maker) != 1
            source = training.origin(facts.inputs(maker)[0] if is_multiple else noise)
            values, other = training.glance(source), training.glance(training.origin(data))
            center = 1.0 if facts.op_name(op) == "multiply" else 0.0
            if values and other and _is_noise(values, center):
                row = values.digest, other.digest, source, op
                seen.setdefault(facts.stack(op), []).append(row)
    for rows in seen.values():
        digests, others, sources, ops = map(set, zip(*rows, strict=True))
        if len(digests) == 1 and len(others) == len(sources) == len(ops) >= _FEWEST:
            place = _seeding(training, sorted(ops)) or facts.place(min(ops))
            yield warning("same-batch.augmented", place, min(ops), n=len(ops))


def _seeding(training: Training, ops: list[int]) -> Place | None:
    """Return the line that set the same seed before each of some ops, None if there is none."""
    calls: dict[tuple[Place, str], list[int]] = {}
    for call in training.called("seed", "default_rng"):
        key = training.place(call), " ".join(call.detail)
        calls.setdefault(key, []).append(bisect_right(ops, call.event.ops_before))
    fits = (place for (place, _), found in calls.items() if found == list(range(len(ops))))
    return next(fits, None)


def _is_noise(values: Glance, center: float) -> bool:
    """Tell whether values spread around a number, but not exactly, as standardised data do."""
    deviation = max(values.root_mean_square**2 - values.mean**2, 0.0) ** 0.5
    off = abs(values.mean - center) * values.elements**0.5
    is_random = values.elements >= _LARGE and not values.is_whole and not values.zeros
    return is_random and 1e-3 * deviation < off < 4 * deviation


def _is_mixed(training: Training, noise: int, times: int) -> bool:
    """Tell whether noise was scaled by another tensor and then added, each time."""
    facts = training.facts
    scaled = [one for one in training.readers(noise) if facts.op_name(one) == "multiply"]
    added = [one for op in scaled for one in facts.consumers(facts.outputs(op)[0])]
    is_added = [facts.op_name(one) == "add" for one in added]
    return sum(is_added) >= times and all(len(facts.inputs(one)) == 2 for one in scaled)


CHECK = Check(find, example="for step in range(1000):\n    x, y = next(iter(loader))")
