"""Gradient clipping has no effect: no optimizer has the clip, or there is no gradient to clip.

Contract (``paddle.nn.ClipGradByGlobalNorm``): the clip object is passed to the optimizer as
``grad_clip``. ``clip_grad_norm_`` is called between backward and the step.

The check does not report a clip object that the user's code calls itself. It reports a clip in one
of two optimizers, if their parameters begin with the same values and their gradients are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.facts import EXTERNAL, FORWARD, GRADIENT, Facts
from paddle_lab.analysis.findings.parts import Called, Check, Found, Training, warning
from paddle_lab.analysis.source.stacks import stack_of


def find(facts: Facts) -> Iterator[Found]:
    """Yield the clips that have no effect."""
    training = facts.answer(Training)
    used = {step.clip for step in training.steps}
    stacks = {facts.stack(op) for op in range(facts.op_count) if facts.phase(op) == FORWARD}
    by_hand = {frame.function.partition(".")[0] for one in stacks
               for frame in stack_of(facts.record, one) if frame.kind == "paddle"}  # fmt: skip
    made = [call for name in training.calls if name.startswith("ClipGrad")
            for call in training.called(name) if name.endswith(".__init__")]  # fmt: skip
    for call in made:
        is_used = " ".join(call.detail) in used or call.detail[0] in by_hand
        if not is_used and len(training.steps) > 1:
            yield warning("clip-unused.not_given", training.place(call), -1, name=call.detail[0])
    yield from _one_replica(training)
    clips = training.called("clip_grad_norm_", "clip_grad_value_")
    if len(clips) > 1 and len(training.steps) > 1 and all(_is_vain(training, one) for one in clips):
        yield warning("clip-unused.late", training.place(clips[0]), -1, name=clips[0].name)


def _one_replica(training: Training) -> Iterator[Found]:
    """Yield the optimizer without a clip, if two train equal nets on averaged gradients."""
    facts = training.facts
    if len(training.steps_of) != 2:
        return
    first = [steps[0] for steps in training.steps_of.values()]
    starts = [{row[4] for row in training.looked.get(step.row, ())} for step in first]
    clips = [bool(step.clip) for step in first]
    is_pair = len(starts[0]) > 1 and starts[0] == starts[1] and clips[0] != clips[1]
    if is_pair and any(_mixes_gradients(facts, op) for op in range(max(s.first_op for s in first))):
        lacking = first[clips.index(False)]
        yield warning("clip-unused.replica", training.made_at(lacking.number), lacking.first_op)


def _mixes_gradients(facts: Facts, op: int) -> bool:
    """Tell whether an op adds two tensors that no op made, outside of the graph."""
    pair = facts.inputs(op)
    kinds = {facts.tensor_kind(one) for one in pair if facts.producer(one) < 0}
    is_sum = facts.op_name(op) in {"add", "stack", "add_n"} and len(pair) == 2 and len(kinds) == 1
    return is_sum and kinds <= {GRADIENT, EXTERNAL} and facts.phase(op) == FORWARD


def _is_vain(training: Training, call: Called) -> bool:
    """Tell whether no backward call ran since the gradients were used or cleared."""
    facts, at = training.facts, call.event.ops_before
    last = max((one for one in map(facts.ops_before, facts.user_backward_calls) if one < at),
               default=-1)  # fmt: skip
    ends = [step.last_op for step in training.steps if -1 < step.last_op < at]
    ends += [clear.event.ops_before - 1 for clear in training.called("clear_grad")]
    return last <= max((end for end in ends if end <= at), default=-1)


CHECK = Check(find, example="clip = nn.ClipGradByNorm(1.0)  # and Adam(…) without grad_clip=clip")
