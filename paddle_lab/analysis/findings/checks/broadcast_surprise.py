"""Shapes ``[N, 1]`` and ``[N]`` met and made ``[N, N]``; so do ``[B, N, 1]`` and ``[N]``.

Broadcasting lines shapes up from the right, so the column of a model's outputs and the row of its
targets make every pair of both. Nothing raises, the loss is a number, and training goes nowhere.

It is an alarm where one side comes from parameters and the other does not, as a prediction and its
target do: every pair of two embeddings, or of two rows of positions, is what somebody wanted. So is
every pair where the same line makes the column, as in ``x.unsqueeze(-1) - grid``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paddle_lab.analysis.findings.check import Check
from paddle_lab.analysis.findings.facts import FORWARD, Facts, shape_of
from paddle_lab.analysis.findings.finding import Found, Mark
from paddle_lab.words import Text

_ELEMENTWISE = frozenset(
    ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "equal",
     "not_equal", "elementwise_pow", "squared_difference")
)  # fmt: skip
_RESHAPING = frozenset(("unsqueeze", "reshape", "getitem", "expand"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield an elementwise op that made every pair of a prediction and a target."""
    for op in _with_surprising_shapes(facts):
        inputs, outputs = facts.inputs(op), facts.outputs(op)
        if not _is_surprising_pair(facts, op, inputs):
            continue
        left, right = (facts.shape(tensor) for tensor in inputs)
        made = facts.shape(outputs[0])
        yield Found(
            place=facts.place(op),
            op=op,
            severity="warning",
            message=Text(
                "findings.broadcast-surprise.found",
                place=facts.place(op),
                left=list(left),
                right=list(right),
                made=list(made),
            ),
            marks=[Mark("origin", op=op)],
        )


def _with_surprising_shapes(facts: Facts) -> list[int]:
    """Return the elementwise ops of a forward whose two inputs have such shapes, in order."""
    record = facts.record
    ops = facts.ops_named(_ELEMENTWISE)
    (first, inputs), (first_output, _) = facts.input_rows, facts.output_rows
    is_binary = (first[ops + 1] - first[ops] == 2) & (
        first_output[ops + 1] - first_output[ops] == 1
    )
    ops = ops[is_binary & (record.ops["phase"][ops] == FORWARD)]
    left, right = (record.tensors["shape"][inputs[first[ops] + slot]] for slot in (0, 1))
    # Few shapes meet, however many ops there are.
    pairs, number = np.unique(np.stack((left, right), axis=1), axis=0, return_inverse=True)
    texts = record.strings
    is_surprising = [
        _is_surprising(*(shape_of(texts[code]) for code in pair)) for pair in pairs.tolist()
    ]
    found: list[int] = ops[np.array(is_surprising, np.bool_)[number.reshape(-1)]].tolist()
    return found


def _is_surprising(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    return (
        len(longer) > len(shorter) > 0
        and longer[-1] == 1
        and longer[-1 - len(shorter) : -1] == shorter
        and shorter[-1] > 1
    )


def _is_surprising_pair(facts: Facts, op: int, inputs: list[int]) -> bool:
    left, right = inputs
    if facts.is_parameter_fed(left) == facts.is_parameter_fed(right):
        return False
    column = max(inputs, key=lambda tensor: len(facts.shape(tensor)))
    maker = facts.producer(column)
    return not (
        maker >= 0 and facts.op_name(maker) in _RESHAPING and facts.place(maker) == facts.place(op)
    )


CHECK = Check(
    kind="broadcast-surprise",
    find=find,
    example="loss = ((net(x) - target) ** 2).mean()  # net(x) is [32, 1], target is [32]",
    holds_on=("first",),  # parameters are known by ops before
)
