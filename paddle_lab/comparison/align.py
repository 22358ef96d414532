"""Matches the ops of two traces. An inserted op does not shift the matches after it.

Ops are matched in rounds. A round compares only ops between the same matched neighbours. The first
round compares everything that names an op, and what needs a gradient, so edits leave gaps. Each
later round compares fewer properties than the previous one. It leaves out the names of parameters
(an optimizer's ops differ only in these), then attributes and shapes,
then the line's text, then the names of layers and the numbers of turns. The last round compares
only the op's name. Within a gap, the first op with some properties is matched with the first such
op of the other trace, the second with the second. If matches would cross others, as few as possible
are left out. A round sorts, so it takes ``O(n log n)``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.comparison.side import Side
from paddle_lab.trace.distinct import Hashes, mixed

Keys = npt.NDArray[np.int64]


def matches(a: Side, b: Side) -> tuple[Keys, Keys]:
    """Return the matched ops of both traces, in order of both.

    If threads call ops alternately, their order changes from run to run. Such ops are matched
    thread by thread, and the result is in the order of threads.
    """
    is_by_thread = a.record.is_concurrent or b.record.is_concurrent
    order_a, order_b = (
        np.argsort(side.ops["thread"] if is_by_thread else np.zeros(len(side)), kind="stable")
        for side in (a, b)
    )
    other = np.full(len(a), -1, np.int64)  # in the order of threads
    for keys_a, keys_b in zip(_rounds(a), _rounds(b), strict=True):
        _match(other, keys_a[order_a], keys_b[order_b])
    _match_replaced(other, a, b, order_a, order_b)
    matched = np.flatnonzero(other >= 0)
    return order_a[matched], order_b[other[matched]]


def _rounds(side: Side) -> Iterator[Hashes]:
    named = mixed(side.name, side.ops["phase"])
    strict, loose = side.scope(is_strict=True), side.scope(is_strict=False)
    called = mixed(named, strict, side.text, side.attributes, side.shapes, side.dtypes, side.stops)
    yield mixed(called, side.parameters)
    yield called
    yield mixed(named, strict, side.text)
    yield mixed(named, strict, side.shapes)
    yield mixed(named, strict)
    yield mixed(named, loose, side.text, side.shapes)
    yield mixed(named, loose, side.shapes)
    yield mixed(named, loose)
    yield mixed(named, side.shapes)
    yield named


def _match(other: Keys, keys_a: Hashes, keys_b: Hashes) -> None:
    """Match further ops; ``other`` has the matched op of b for each op of a, or -1."""
    free_a, free_b, gap_a, gap_b = _free(other, len(keys_b))
    if not len(free_a) or not len(free_b):
        return
    a, b = mixed(keys_a[free_a], gap_a), mixed(keys_b[free_b], gap_b)
    a, b = mixed(a, occurrences(a)), mixed(b, occurrences(b))
    _, at_a, at_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    in_order = np.argsort(at_a)
    one, two = free_a[at_a[in_order]], free_b[at_b[in_order]]
    kept = _increasing(two)
    other[one[kept]] = two[kept]


def _free(other: Keys, count_b: int) -> tuple[Any, Any, Any, Any]:
    """Return the unmatched ops of both traces, and the number of matches before each."""
    is_matched = other >= 0
    is_matched_b = np.zeros(count_b, bool)
    is_matched_b[other[is_matched]] = True
    free_a, free_b = np.flatnonzero(~is_matched), np.flatnonzero(~is_matched_b)
    return free_a, free_b, np.cumsum(is_matched)[free_a], np.cumsum(is_matched_b)[free_b]


def occurrences(values: Hashes) -> Keys:
    """Return for each value how many equal values come before it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(values)), 0))
    found = np.empty(len(values), np.int64)
    found[order] = np.arange(len(values)) - starts
    return found


def _increasing(values: Keys) -> Keys:
    """Return the positions of a longest increasing subsequence."""
    if np.all(values[1:] > values[:-1]):
        return np.arange(len(values))
    ends: list[int] = []  # the smallest end of a subsequence of each length
    at: list[int] = []
    before = np.full(len(values), -1)
    for position, value in enumerate(values.tolist()):
        length = bisect_left(ends, value)
        before[position] = at[length - 1] if length else -1
        ends[length : length + 1] = [value]
        at[length : length + 1] = [position]
    kept, position = [], at[-1]
    while position >= 0:
        kept.append(position)
        position = int(before[position])
    return np.array(kept[::-1], np.int64)


def _match_replaced(other: Keys, a: Side, b: Side, order_a: Keys, order_b: Keys) -> None:
    """If a gap has equally many ops in each trace, of one name each, match them in order.

    One op replaced the other: `adamw_` each `adam_`, for example.
    """
    free_a, free_b, gap_a, gap_b = _free(other, len(b))
    count = max(gap_a.max(initial=-1), gap_b.max(initial=-1)) + 1
    sizes = [np.bincount(gap, minlength=count) for gap in (gap_a, gap_b)]
    is_replaced = sizes[0] == sizes[1]
    for side, ops, gap in ((a, order_a[free_a], gap_a), (b, order_b[free_b], gap_b)):
        name = np.zeros(count, np.int64)
        name[gap] = side.name[ops]
        is_replaced[gap[side.name[ops] != name[gap]]] = False
    one, two = free_a[is_replaced[gap_a]], free_b[is_replaced[gap_b]]
    key_a, key_b = order_a[one], order_b[two]
    is_near = np.zeros(len(one), bool)
    for is_strict in (True, False):
        is_near |= a.scope(is_strict=is_strict)[key_a] == b.scope(is_strict=is_strict)[key_b]
    is_near &= a.ops["phase"][key_a] == b.ops["phase"][key_b]
    other[one[is_near]] = two[is_near]
