"""A mask hides the wrong positions from attention, or its scores are scaled the wrong way.

Contract: a mask varies along the axis of the keys, over which softmax runs; otherwise it hides no
key. In Paddle's attention, ``True`` keeps a key; in PyTorch's ``key_padding_mask`` it hides one.

The check reports a mask with one value along the axis of the keys, if the scores get no other mask.
It also reports a mask that keeps only the keys that hold one token, such as the padding. It does
not report masks of segments or types. If the labels are the next tokens, each key after the query
is hidden: the check reports attention without a mask, and a mask of the past.

Scores are divided by ``sqrt(d)`` (Vaswani et al. 2017). The check reports only constant factors
that make exactly ``sqrt(d)``, not those of another temperature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isclose, prod

from paddle_lab.analysis.findings.checks.operands.tokens import tokens_before
from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_MASKING = frozenset(("add", "subtract", "where", "masked_fill"))
_MOVING = frozenset(("cast", "expand", "unsqueeze", "reshape"))
_STEPS = _MOVING | {"multiply", "scale", "subtract"}
_NOT = frozenset(("logical_not", "bitwise_not"))
_COMPARED = _STEPS | {"equal", "not_equal", "less_than", "greater_than"}
_NUMBER = re.compile(r"-?[\d.]+(e[+-]?\d+)?")
_LARGE = 1e3
_FEWEST_TOKENS = 8


def find(facts: Facts) -> Iterator[Found]:
    """Yield the ops that mask scores, if the mask is wrong."""
    training = facts.answer(Training)
    for loss in training.forward_ops("cross_entropy_with_softmax"):
        yield from _causal(training, loss)
    for softmax in training.forward_ops("softmax"):
        scores = facts.inputs(softmax)[0]
        keys = facts.shape(scores)[-1:]
        if len(facts.shape(scores)) < 3 or training.attribute(softmax, "axis") != "-1":
            continue
        yield from _scale(training, softmax)
        narrow: dict[int, bool] = {}
        for op, mask, keeps in _masks(training, scores):
            way = list(_way_back(facts, mask))
            shapes = [facts.shape(tensor) for tensor, _ in way]
            narrow[op] = keys > (1,) and any(s[-1:] == (1,) and prod(s) > 1 for s in shapes)
            is_added = facts.op_name(op) == "add"  # zeros and ones hide nothing: see mask_added.py
            is_plain = is_added and all(facts.op_name(one) in _MOVING for _, one in way[:-1])
            if not is_plain and _keeps_one_token(training, way, keeps):
                yield warning("attention-mask.inverted", facts.place(op), op)
            seen = training.glance(way[-1][0])
            is_same = seen is not None and seen.elements > 1 and seen.smallest == seen.largest
            if is_same and (padded := _padding(training, softmax, facts.shape(way[-1][0]))):
                yield warning("attention-mask.constant", facts.place(op), op, n=padded)
        rows = facts.shape(scores)[-2:]
        padded = _padding(training, softmax, (facts.shape(scores)[0], *keys))
        maker = facts.producer(scores)
        is_plain = maker >= 0 and (
            facts.op_name(maker) == "matmul" or len(facts.inputs(maker)) == 1
        )
        if not narrow and rows == keys * 2 and is_plain and padded:
            yield warning("attention-mask.none", facts.place(softmax), softmax, n=padded)
        if narrow and all(narrow.values()):
            op = next(iter(narrow))
            yield warning("attention-mask.queries", facts.place(op), op, n=keys[0])


def _causal(training: Training, loss: int) -> Iterator[Found]:
    """Yield attention that reads the next tokens, which are the labels of a loss."""
    facts, tokens = training.facts, tokens_before(training.facts, loss)
    lengths = {facts.shape(one)[1] for one in tokens.read}
    for softmax in sorted(tokens.way) if tokens.are_next else ():
        scores = facts.inputs(softmax)[0] if facts.op_name(softmax) == "softmax" else -1
        if scores < 0 or not {*facts.shape(scores)[-2:]} <= lengths:
            continue
        masks = list(_masks(training, scores))
        for op, mask, keeps in masks:
            made = _shows_future(training, list(_way_back(facts, mask, _COMPARED)), op, keeps)
            if made >= 0:
                yield warning("attention-mask.future", facts.place(made), op)
        product = facts.producer(scores)
        while product >= 0 and len(facts.inputs(product)) == 1:  # a factor
            product = facts.producer(facts.inputs(product)[0])
        is_product = not masks and product >= 0 and facts.op_name(product) == "matmul"
        readers = {facts.op_name(one) for one in training.readers(facts.outputs(softmax)[0])}
        keys = facts.inputs(product)[1] if is_product and readers == {"matmul"} else -1
        if keys >= 0 and not tokens.read.isdisjoint(facts.before(keys)):
            yield warning("attention-mask.causal", facts.place(softmax), softmax)


def _shows_future(training: Training, way: list[tuple[int, int]], op: int, keeps: bool) -> int:  # noqa: FBT001
    """Return the op that made a mask of the past, or one that keeps the future; -1 for neither."""
    facts, made = training.facts, way[-1][1]
    if made < 0 or facts.op_name(made) not in {"triu", "tril"}:
        return -1
    source = facts.producer(facts.inputs(made)[0])
    numbers = [training.attribute(source, "value") if source >= 0 else ""]
    numbers += [facts.attributes(one) for _, one in way[:-1]]
    factors = [float(one) for one in numbers if _NUMBER.fullmatch(one)]
    is_large = any(abs(one) > _LARGE for one in factors)
    if facts.op_name(op) in {"add", "subtract"} and not is_large:
        return -1
    keeps = _is_kept(training, way[:-1], keeps)
    return made if keeps == (facts.op_name(made) == "triu") else -1


def _is_kept(training: Training, way: list[tuple[int, int]], keeps: bool) -> bool:  # noqa: FBT001
    """Tell whether a mask keeps the keys at which the first tensor of its way back is true."""
    facts = training.facts
    for _, op in way:
        name = facts.op_name(op)
        is_moved = name == "scale" and training.attribute(op, "bias") not in {"0.0", ""}
        is_below = name == "less_than" or (name == "equal" and facts.attributes(op)[:1] == "0")
        keeps ^= name in _NOT or name == "subtract" or is_moved or is_below
        if name == "where":  # a condition whose first value adds nothing keeps the key
            first = training.glance(training.origin(facts.inputs(op)[1]))
            keeps ^= first is not None and first.zeros == first.elements
    return keeps


def _padding(training: Training, softmax: int, shape: tuple[int, ...]) -> int:
    """Return how many of the tokens of this shape before a softmax are padding."""
    facts = training.facts
    for op in training.forward_ops("embedding"):
        tokens, seen = facts.inputs(op)[0], training.glance(facts.inputs(op)[0])
        is_padded = training.attribute(op, "padding_idx") == "0" and op < softmax
        if is_padded and seen is not None and facts.shape(tokens) == shape and seen.zeros:
            return seen.zeros
    return 0


def _scale(training: Training, softmax: int) -> Iterator[Found]:
    """Yield the op that multiplies scores by the root of their width."""
    facts = training.facts
    op, factor, scaling = facts.producer(facts.inputs(softmax)[0]), 1.0, -1
    for _ in range(6):
        inputs = facts.inputs(op) if op >= 0 else []
        if len(inputs) == 1 and facts.factor(op) != 1:
            factor, scaling = factor * facts.factor(op), op
        if not inputs or facts.op_name(op) not in {"add", "matmul", "multiply", "divide"}:
            return
        width = facts.shape(inputs[0])[-1:] or (0,)
        if facts.op_name(op) == "matmul":
            if width[0] > 1 and scaling >= 0 and isclose(factor, width[0] ** 0.5, rel_tol=1e-4):
                yield warning("attention-mask.scale", facts.place(scaling), scaling, n=width[0])
            return
        op = facts.producer(inputs[0])


def _masks(training: Training, scores: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the ops that mask scores, their masks, and whether ``True`` keeps a key."""
    facts = training.facts
    for _ in range(4):
        op = facts.producer(scores)
        name, inputs = (facts.op_name(op), facts.inputs(op)) if op >= 0 else ("", [])
        if name not in _MASKING or len(inputs) < 2:
            return
        if name == "where":
            maker = training.origin_op(inputs[1])
            is_computed = maker >= 0 and facts.op_name(maker) != "full_like"
            keeps = is_computed and training.is_fed(inputs[1])
            keeps = keeps and facts.shape(inputs[1]) == facts.shape(scores)
            mask, scores = inputs[0], inputs[1 if keeps else 2]
        else:
            is_first = training.is_fed(inputs[0])
            scores, mask, keeps = *(inputs[:2] if is_first else inputs[1::-1]), False
        if training.is_fed(mask):
            return
        yield op, mask, keeps


def _way_back(facts: Facts, mask: int, steps: frozenset[str] = _STEPS) -> Iterator[tuple[int, int]]:
    """Yield the tensors that a mask was made of, from the last to the first, and their ops."""
    for _ in range(12):
        op = facts.producer(mask)
        yield mask, op
        name = facts.op_name(op) if op >= 0 else ""
        if name not in steps | _NOT | {"where"} or len(facts.inputs(op)) not in (1, 3):
            return
        mask = facts.inputs(op)[0]


def _keeps_one_token(training: Training, way: list[tuple[int, int]], keeps: bool) -> bool:  # noqa: FBT001
    """Tell whether a mask was made by a comparison of tokens with one token, and keeps this one."""
    facts, last = training.facts, way[-1][1]
    if last < 0 or facts.op_name(last) not in {"equal", "not_equal"}:
        return False
    keeps = _is_kept(training, way[:-1], keeps) ^ (facts.op_name(last) == "not_equal")
    tokens, *others = facts.inputs(last)
    is_one = all(prod(facts.shape(one)) == 1 for one in others)
    return keeps and is_one and any(
        facts.op_name(op) == "embedding" and facts.shape(facts.inputs(op)[1])[0] > _FEWEST_TOKENS
        for op in facts.consumers(tokens)
    )  # fmt: skip


CHECK = Check(find, example="mask = (ids == 0).unsqueeze([1, 2])\ny = encoder(x, mask)")
