"""Trees stored as a column of parents, rows grouped by a key, and breadth-first walks.

No function recurses. No function requires parents to come before children.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int32]
Rows = Callable[[int], list[int]]
"""Maps a row to the rows that belong to it, in order."""


def depths(parents: npt.NDArray[Any]) -> Keys:
    """Return the number of ancestors of each row.

    Parameters
    ----------
    parents
        Parent keys, shape ``[rows]``; ``-1`` for a root.

    Raises
    ------
    ValueError
        If the parents form a cycle.
    """
    count = len(parents)
    depth = (parents >= 0).astype(np.int32)
    above = parents.astype(np.int32)
    # Pointer doubling: after round k, ``above`` is the ancestor 2^k levels up.
    for _ in range(count.bit_length() + 1):
        has_above = np.flatnonzero(above >= 0)
        if not len(has_above):
            return depth
        depth[has_above] += depth[above[has_above]]
        above[has_above] = above[above[has_above]]
    raise ValueError("parents form a cycle")


def nearest_marked(parents: npt.NDArray[Any], marked: npt.NDArray[np.bool_]) -> Keys:
    """Return the nearest ``marked`` ancestor of each row, or -1. A row is its own ancestor."""
    rows = np.arange(len(parents), dtype=np.int32)
    above = np.where(marked, rows, parents.astype(np.int32))
    moving = np.flatnonzero((above >= 0) & (above != rows))
    while len(moving):
        further = above[above[moving]]
        is_further = further != above[moving]
        above[moving] = further
        moving = moving[is_further & (further >= 0)]
    return above


def outermost(parents: npt.NDArray[Any]) -> Keys:
    """Return the outermost ancestor of each row, which is the row itself for a root; int32."""
    return nearest_marked(parents, parents < 0)


def common_ancestors(
    parents: npt.NDArray[Any],
    depth: npt.NDArray[Any],
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
) -> Keys:
    """Return the lowest common ancestor of each pair, or -1. A row is an ancestor of itself.

    Parameters
    ----------
    parents, depth
        The tree, shape ``[rows]``; ``depth`` as from :func:`depths`.
    left, right
        Row keys or -1, shape ``[pairs]``.
    """
    left, right = left.astype(np.int32), right.astype(np.int32)
    # The key -1 reads the last entry, so append an entry for it.
    up = np.append(parents.astype(np.int32), -1)
    level = np.append(depth, -1)
    open_pairs = np.flatnonzero(left != right)
    while len(open_pairs):
        a, b = left[open_pairs], right[open_pairs]
        lift_a, lift_b = level[a] >= level[b], level[b] >= level[a]
        left[open_pairs] = np.where(lift_a, up[a], a)
        right[open_pairs] = np.where(lift_b, up[b], b)
        open_pairs = open_pairs[left[open_pairs] != right[open_pairs]]
    return left


def levels(depth: Keys) -> list[npt.NDArray[np.intp]]:
    """Return the rows of each depth, in order. The roots come first."""
    by_depth = np.argsort(depth, kind="stable")
    return np.split(by_depth, np.cumsum(np.bincount(depth, minlength=1))[:-1])


def gathered(
    parents: npt.NDArray[Any], values: npt.NDArray[Any], function: np.ufunc
) -> npt.NDArray[Any]:
    """Return the value of each row combined with the values of all rows below it.

    Parameters
    ----------
    parents
        The tree, shape ``[rows]``.
    values
        The value of each row itself, shape ``[rows]``.
    function
        ``numpy.add``, ``numpy.minimum``, ….
    """
    values = values.copy()
    for nested in reversed(levels(depths(parents))[1:]):
        function.at(values, parents[nested], values[nested])
    return values


def taken(values: npt.NDArray[Any], keys: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return ``values[keys]``; -1 for the key -1."""
    return np.take(np.append(values, np.array([-1], np.int32)), keys)


def csr(sources: npt.NDArray[Any], row_count: int) -> tuple[Keys, Keys]:
    """Sort rows by source (stable): ``order[starts[i]:starts[i + 1]]`` have the source ``i``.

    Rows with the source -1 are omitted.
    """
    order = np.argsort(sources, kind="stable").astype(np.int32)
    order = order[np.count_nonzero(sources < 0) :]
    counts = np.bincount(sources[sources >= 0], minlength=row_count)
    starts = np.zeros(row_count + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts, order


def rows_by(keys: npt.NDArray[Any], values: npt.NDArray[Any], key_count: int) -> Rows:
    """Return a function that returns the values of a key, in order. The key -1 has no values."""
    starts, order = csr(keys, key_count)
    begin, all_values = starts.tolist(), values[order].tolist()
    return lambda key: all_values[begin[key] : begin[key + 1]]


def grouped(values: npt.NDArray[Any]) -> dict[int, npt.NDArray[np.intp]]:
    """Return for each value its rows, in order. Rows with the value -1 are omitted."""
    order = np.argsort(values, kind="stable")
    order = order[np.count_nonzero(values < 0) :]
    found, first = np.unique(values[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, first[1:]), strict=False))


def walk(starts: Iterable[int], onward: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Yield the starts and all rows that can be reached from them, each once, the nearest first."""
    queue = list(dict.fromkeys(starts))
    seen = set(queue)
    for row in queue:
        yield row
        for one in onward(row):
            if one not in seen:
                seen.add(one)
                queue.append(one)
