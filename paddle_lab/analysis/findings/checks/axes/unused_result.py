"""An op computed a changed copy of a tensor, the copy was lost, and later code uses the tensor.

Contract (Paddle's documentation): ops and layers return a new tensor. ``paddle.clip(w, -1, 1)``
does not change ``w``, and ``dropped = self.drop(x)`` does not change ``x``.

The check reports a dropout, norm, clip or an activation of the ReLU family; and an op of two
tensors if the other one has no other use. In no call anything used the result: it has no name, or a
function that reads the name nowhere later. Backward went through a later use of the tensor.

It does not report what may only be looked at: results of softmax, differences, numbers, inputs of
losses, names at the top level, parts of a tuple, and ``_``; nor calls whose inner results are used.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from math import prod

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import EXTERNAL, FORWARD, PARAMETER, Facts, walk
from paddle_lab.analysis.findings.facts.ops import Mask
from paddle_lab.analysis.findings.facts.training import LOSSES, Training
from paddle_lab.analysis.findings.finding import Found, Place, warning
from paddle_lab.analysis.source.lost_results import lost_results
from paddle_lab.analysis.source.stacks import Frame, stack_of

_OF_ONE = frozenset(
    ("dropout", "layer_norm", "rms_norm", "group_norm", "instance_norm", "relu", "gelu", "silu",
     "leaky_relu", "elu", "clip", "clip_by_norm")
)  # fmt: skip
_OF_TWO = frozenset(("add", "multiply", "divide", "where", "masked_fill"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield the lines whose results were lost."""
    training = facts.answer(Training)
    is_reached = facts.ops_of_nodes(facts.nodes_of_calls(facts.user_backward_calls))
    unused: dict[Frame, list[int]] = {}
    for op in training.forward_ops(*_OF_ONE, *_OF_TWO):
        first = facts.outputs(op)[0]
        is_result = "float" in facts.dtype(first) and prod(facts.shape(first)) > 1
        if is_result and all(map(training.is_unused, facts.outputs(op))):
            frames = stack_of(facts.record, facts.stack(op))
            for caller in [one for one in frames if one.kind != "paddle"][:1]:
                unused.setdefault(caller, []).append(op)
    for frame, ops in unused.items():
        made, place = facts.op_name(ops[0]), Place.of(frame)
        every = [op for op in training.forward_ops(made) if facts.place(op) == place]
        is_lost = len(every) == len(ops) > 1 and frame.kind == "user"
        name = _lost_name(facts, frame) if is_lost else None
        changed = {-1} if name is None else {_changed(training, op, is_reached) for op in ops}
        if -1 not in changed and len(changed) == len(ops):  # no repetition to measure the time
            key = f"unused-result.{'named' if name else 'dropped'}"
            yield warning(key, place, ops[0], name=name, made=made)


def _lost_name(facts: Facts, frame: Frame) -> str | None:
    """Return the name that gets the result of the frame's call, None if something may read it."""
    lines, table = linecache.getlines(frame.file), facts.record.frames
    is_same = bool(frame.text) and frame.text in "".join(lines[frame.line - 1 : frame.line])
    ends = (int(table[at][frame.key]) for at in ("column", "end_line", "end_column"))
    return lost_results("".join(lines)).get((frame.line, *ends)) if is_same else None


def _changed(training: Training, op: int, is_reached: Mask) -> int:
    """Return the tensor that a call changed and later code uses; -1 if the call had an effect."""
    facts, name, out = training.facts, training.facts.op_name(op), training.facts.outputs(op)[0]

    def is_inner(one: int) -> bool:
        return one >= 0 and facts.place(one) == facts.place(op)

    def before(tensor: int) -> list[int]:
        maker = facts.producer(tensor)
        return list(facts.inputs(maker)) if is_inner(maker) else []

    def elsewhere(tensor: int) -> list[int]:
        return [one for one in facts.consumers(tensor) if not is_inner(one)]

    def is_used(tensor: int) -> bool:
        if facts.tensor_kind(tensor) == EXTERNAL and name in {"clip", "clip_by_norm"}:
            return facts.shape(tensor) in training.parameter_shapes  # a gradient
        is_loss = any(facts.op_name(one) in LOSSES for one in elsewhere(tensor))
        later = [one for one in elsewhere(tensor) if one > op]
        return not is_loss and any(is_reached[one] or facts.phase(one) != FORWARD for one in later)

    way = [one for one in walk(facts.inputs(op), before)
           if name == "clip" or facts.tensor_kind(one) != PARAMETER]  # fmt: skip
    made = {one for one in way if is_inner(facts.producer(one))}
    if any(facts.previous(one) >= 0 or elsewhere(one) for one in made):
        return -1  # a hook took a result, or a statistic was updated
    used = {one for one in way if facts.shape(one) == facts.shape(out) and is_used(one)}
    others = {one for one in (way if name == "divide" else facts.inputs(op))
              if facts.tensor_kind(one) != PARAMETER} - made - used  # fmt: skip
    is_alone = name in _OF_ONE or (len(facts.inputs(op)) > 1 and not any(map(elsewhere, others)))
    return min(used) if len(used) == 1 and is_alone else -1


CHECK = Check(find, example="dropped = self.drop(x)\nreturn self.head(x)", holds_on=())
