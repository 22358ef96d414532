"""Each step got the same batch or noise.

Contract (``DataLoader``): each ``iter(loader)`` begins at the first batch. The noise that a
diffusion model predicts is drawn for each step (Ho et al. 2020).

The check reports a line that started the same loader for each backward call, if the loader has
several batches and does not shuffle. It does not report a batch that is read once and used again.
It also reports noise that was drawn once, scaled and added to the data, and predicted in each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from paddle_lab.analysis.findings.parts import Called, Check, Facts, Found, Place, Training, warning

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
    yield from _noise(training)


def _noise(training: Training) -> Iterator[Found]:
    """Yield the lines of noise that was drawn once and that at least three losses predict."""
    facts = training.facts
    read: dict[tuple[int, int], list[int]] = {}
    for op in training.forward_ops("subtract", "huber_loss", "kldiv_loss"):
        if any(map(facts.needs_grad, facts.outputs(op))):
            for source in map(training.origin, facts.inputs(op)[:2]):
                maker = facts.producer(source)
                if maker >= 0 and facts.op_name(maker) == "gaussian":
                    read.setdefault((source, facts.stack(op)), []).append(op)
    for (source, _), ops in read.items():
        maker = facts.producer(source)
        if len(ops) >= _FEWEST and _is_mixed(training, source, len(ops)):
            yield warning("same-batch.noise", facts.place(maker), maker, n=len(ops))


def _is_mixed(training: Training, noise: int, times: int) -> bool:
    """Tell whether noise was scaled by another tensor and then added, each time."""
    facts = training.facts
    scaled = [one for one in training.readers(noise) if facts.op_name(one) == "multiply"]
    added = [one for op in scaled for one in facts.consumers(facts.outputs(op)[0])]
    is_added = [facts.op_name(one) == "add" for one in added]
    return sum(is_added) >= times and all(len(facts.inputs(one)) == 2 for one in scaled)


CHECK = Check(find, example="for step in range(1000):\n    x, y = next(iter(loader))", holds_on=())
