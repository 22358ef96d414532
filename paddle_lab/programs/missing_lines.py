"""Finds lines for ops that have no stack.

Paddle stores no stack for ``if`` and ``while``, for ops that it adds by itself, and for ops of a
backward. An ``if`` gets the line of its condition. Another op gets the line of an op that reads its
output, otherwise of an op that made its input, otherwise of the previous op.
"""

from __future__ import annotations

from collections.abc import Mapping

from paddle_lab.programs.program import Block, Op, Stack


def fill_lines(block: Block) -> None:
    """Assign a stack to each op of a program's forward, if at least one op has a stack."""
    ops = list(block.walk())
    own = {id(op): op.stack for op in ops if op.stack}
    if len(own) in (0, len(ops)):
        return
    maker = {key: op for op in ops for key in op.outputs}
    users: dict[int, list[Op]] = {}
    for op in ops:
        for key in op.inputs:
            users.setdefault(key, []).append(op)
    last: Stack = next(iter(own.values()))
    for op in ops:
        op.stack = last = op.stack or _stack_beside(op, maker, users, own) or last


def _stack_beside(
    op: Op,
    maker: Mapping[int, Op],
    users: Mapping[int, list[Op]],
    own: Mapping[int, Stack],
) -> Stack:
    makers = [maker[key] for key in op.inputs if key in maker]
    using = [user for key in op.outputs for user in users.get(key, ())]
    near = [*makers, *using] if op.blocks else [*using, *makers]
    return next((own[id(other)] for other in near if id(other) in own), ())
