"""Shapes ``[N, 1]`` and ``[N]`` were broadcast to ``[N, N]``; also ``[B, N, 1]`` and ``[N]``.

Broadcasting aligns shapes from the right. So it combines every output of a model (a column) with
every target (a row). Nothing raises and the loss is a number, but training does not work.

The check warns only if one side is computed from parameters and the other is not, like a prediction
and its target. Two embeddings, or two rows of positions, are combined on purpose. So is a column
that the same line makes, as in ``x.unsqueeze(-1) - grid``.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle_lab.analysis.findings.parts import FORWARD, Check, Facts, Found, Training, warning

_ELEMENTWISE = frozenset(
    ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "equal",
     "not_equal", "elementwise_pow", "squared_difference")
)  # fmt: skip
_RESHAPING = frozenset(("unsqueeze", "reshape", "getitem", "expand"))


def find(facts: Facts) -> Iterator[Found]:
    """Yield elementwise ops that combined every prediction with every target."""
    for op in facts.ops_named(_ELEMENTWISE):
        inputs, outputs = facts.inputs(op), facts.outputs(op)
        if len(inputs) != 2 or len(outputs) != 1 or facts.phase(op) != FORWARD:
            continue
        left, right = map(facts.shape, inputs)
        if not _is_surprising(left, right) or not _is_surprising_pair(facts, op, inputs):
            continue
        sizes = map(list, (left, right, facts.shape(outputs[0])))
        shapes = dict(zip(("left", "right", "made"), sizes, strict=True))
        yield warning("broadcast-surprise.found", facts.place(op), op, **shapes)


def _is_surprising(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    shorter, longer = sorted((left, right), key=len)
    return (
        len(longer) > len(shorter) > 0
        and longer[-1] == 1
        and longer[-1 - len(shorter) : -1] == shorter
        and shorter[-1] > 1
    )


def _is_surprising_pair(facts: Facts, op: int, inputs: list[int]) -> bool:
    training = facts.answer(Training)
    origins = [one if facts.producer(one) >= 0 else training.origin(one) for one in inputs]
    is_fed = [training.is_fed(one) for one in origins]
    if is_fed[0] == is_fed[1]:
        return False
    column = max(inputs, key=lambda tensor: len(facts.shape(tensor)))
    maker = facts.producer(column)
    is_made_here = maker >= 0 and facts.place(maker) == facts.place(op)
    return not (is_made_here and facts.op_name(maker) in _RESHAPING)


CHECK = Check(
    find=find,
    example="loss = ((net(x) - target) ** 2).mean()  # net(x) is [32, 1], target is [32]",
    holds_on=("first",),  # earlier ops show whether a tensor comes from parameters
)
