"""``reshape`` was used to exchange axes, where ``transpose`` was meant.

Contract (``paddle.reshape``): the values keep their order in memory. A reshape from [N, C, H, W] to
[N, H, W, C] gives the right shape, but mixes channels with positions.

The check also reports a merge of axes that are not side by side, such as the heads of attention. It
does not if the sizes also fit a split, as in the groups of GroupNorm, except after ``matmul``.

The check does not report a reshape that splits axes or merges neighbours, or the shift of relative
positions in attention, where the last two sizes differ by 1. Axes of the same size cannot be told
apart, except if [N, C, H, W] comes straight from a convolution and [-1, C] is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise, permutations
from operator import mul

from paddle_lab.analysis.findings.parts import Check, Facts, Found, Training, warning

_MAPS = {"conv2d", "conv2d_transpose", "bilinear_interp", "nearest_interp", "bicubic_interp"}


def find(facts: Facts) -> Iterator[Found]:
    """Yield the reshapes that move an axis."""
    training = facts.answer(Training)
    for op in training.forward_ops("reshape", "reshape_"):
        if not facts.inputs(op) or not facts.outputs(op):
            continue
        before, after = (facts.shape(one) for one in (facts.inputs(op)[0], facts.outputs(op)[0]))
        maker = facts.producer(facts.inputs(op)[0])
        made = facts.op_name(maker) if maker >= 0 else ""
        moved = _moved(before, after, is_product=made == "matmul")
        is_map = made in _MAPS and "NHWC" not in facts.attributes(maker) and len(before) == 4
        if is_map and len(after) == 2 and after[1] == before[1] != before[3] > 1:
            moved = moved or (after[1] != before[2] * before[3] and after[1])
        if moved:
            yield warning("reshape-for-transpose.found", facts.place(op), op,
                          before=list(before), after=list(after), size=moved)  # fmt: skip


def _moved(before: tuple[int, ...], after: tuple[int, ...], *, is_product: bool) -> int:
    """Return the size of an axis that is at another position after the reshape, 0 for none."""
    left, right = ([size for size in shape if size != 1] for shape in (before, after))
    if 0 in left or left == right:
        return 0
    common = set(accumulate(left, mul)) & set(accumulate(right, mul))
    for old, new in zip(_groups(left, common), _groups(right, common), strict=True):
        if len(old) < 2 or len(new) < 2:
            continue
        sizes = [size for size in set(old) & set(new) if old.count(size) == new.count(size) == 1]
        is_last = old == left[-2:] and new == right[-2:] and len(left) > 2
        if is_last and abs(old[0] - old[1]) == 1:
            continue
        if sizes:
            return max(sizes)
        # The groups of axes that make the new axes would have to be side by side.
        ends = set(accumulate(new, mul))
        is_merge = any(ends <= set(accumulate(one, mul)) for one in permutations(old))
        if len(old) > 2 and is_merge and (is_product or not _is_split(old, new)):
            return max(new)
    return 0


def _is_split(old: list[int], new: list[int]) -> bool:
    """Tell whether splits and merges of axes that are side by side give the new axes."""
    ends = sorted({*accumulate(old, mul), *accumulate(new, mul)})
    return all(end % start == 0 for start, end in pairwise(ends))


def _groups(sizes: list[int], ends: set[int]) -> list[list[int]]:
    """Divide the axes into groups.

    A group ends where the product of all sizes, from the first axis on, is in ``ends``.
    """
    groups: list[list[int]] = [[]]
    total = 1
    for size in sizes:
        total *= size
        groups[-1].append(size)
        if total in ends:
            groups.append([])
    return groups[:-1] if not groups[-1] else groups


CHECK = Check(find, example="x = x.reshape([n, h, w, c])  # x is [n, c, h, w]")
