"""Finds which ops of a training program belong to forward, backward, and the optimizer."""

from __future__ import annotations

from paddle_lab.programs.program import Block, Op
from paddle_lab.trace.schema import PHASES

FORWARD, BACKWARD, OPTIMIZER = range(len(PHASES))


def is_gradient(op: Op) -> bool:
    """Tell whether an op computes gradients, or has a block with such an op."""
    name = op.short_name.rstrip("_")
    inside = (inner for block in op.blocks for inner in block.walk())
    return name.endswith("_grad") or any(map(is_gradient, inside))


def phases(block: Block) -> list[int]:
    """Return the phase of each op of a block, in order.

    The backward consists of all ops that compute gradients, and the ops between them. Later ops
    that use the gradients belong to the optimizer.
    """
    told = [BACKWARD if is_gradient(op) else FORWARD for op in block.ops]
    after = {key for op, told_ in zip(block.ops, told, strict=True) if told_ for key in op.outputs}
    if not after:
        return told
    for at, op in enumerate(block.ops):
        if told[at] == FORWARD and not after.isdisjoint(op.inputs):
            told[at] = OPTIMIZER
            after.update(op.outputs)
    # Go backward. Ops that lead to a gradient op, or only add gradients, belong to the backward.
    before: set[int] = set()
    summed: set[int] = {-1}
    used: set[int] = set()
    for op, phase in zip(block.ops, told, strict=True):
        used.update(op.inputs if phase == FORWARD else ())
        is_sum = op.is_list or op.short_name == "add_n"
        if phase == BACKWARD or (is_sum and phase == OPTIMIZER and summed.issuperset(op.inputs)):
            summed.update(op.outputs)
    for at in reversed(range(len(told))):
        op = block.ops[at]
        made = {*op.outputs} - {-1}
        is_needed = not before.isdisjoint(made) or not summed.isdisjoint(made)
        # This op makes the first gradient of the backward, and no other op uses its output.
        is_first = op.short_name == "full_like" and made <= before - used
        if told[at] == BACKWARD or is_first or (told[at] == OPTIMIZER and is_needed):
            told[at] = BACKWARD
            before.update(op.inputs)
    return told
