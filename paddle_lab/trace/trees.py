"""Trees stored as a column of parents, rows grouped by a key, and breadth-first walks.

No function recurses, and no function requires that a parent comes before its children.
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
    """Return each row's number of ancestors.

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
    """Return for each row itself if ``marked``, else its nearest marked ancestor, else -1."""
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
    """Return each row's outermost ancestor, itself for a root, int32, shape ``[rows]``."""
    return nearest_marked(parents, parents < 0)


def common_ancestors(
    parents: npt.NDArray[Any],
    depth: npt.NDArray[Any],
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
) -> Keys:
    """Return the lowest common ancestor of each pair, -1 for none; a row is its own ancestor.

    Parameters
    ----------
    parents, depth
        The tree, shape ``[rows]``; ``depth`` as from :func:`depths`.
    left, right
        Row keys or -1, shape ``[pairs]``.
    """
    left, right = left.astype(np.int32), right.astype(np.int32)
    # The row -1 reads the last entry, so an entry for it is appended there.
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
    """Return the rows of each depth, beginning with the roots, in order."""
    by_depth = np.argsort(depth, kind="stable")
    return np.split(by_depth, np.cumsum(np.bincount(depth, minlength=1))[:-1])


def gathered(
    parents: npt.NDArray[Any], values: npt.NDArray[Any], function: np.ufunc
) -> npt.NDArray[Any]:
    """Return each row's value, combined by ``function`` with the values of all rows below it.

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
    """Return ``values[keys]``, with -1 for the key -1."""
    return np.take(np.append(values, np.array([-1], np.int32)), keys)


def csr(sources: npt.NDArray[Any], row_count: int) -> tuple[Keys, Keys]:
    """Sort rows by ``sources`` (stable): ``order[starts[i]:starts[i + 1]]`` have the source ``i``.

    Rows with the source -1 are omitted.
    """
    order = np.argsort(sources, kind="stable").astype(np.int32)
    order = order[np.count_nonzero(sources < 0) :]
    counts = np.bincount(sources[sources >= 0], minlength=row_count)
    starts = np.zeros(row_count + 1, dtype=np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts, order


def rows_by(keys: npt.NDArray[Any], values: npt.NDArray[Any], key_count: int) -> Rows:
    """Return the values of each key, in order; the key -1 has none."""
    starts, order = csr(keys, key_count)
    begin, all_values = starts.tolist(), values[order].tolist()
    return lambda key: all_values[begin[key] : begin[key + 1]]


def grouped(values: npt.NDArray[Any]) -> dict[int, npt.NDArray[np.intp]]:
    """Return for each value its rows, in order. The value -1 is omitted."""
    order = np.argsort(values, kind="stable")
    order = order[np.count_nonzero(values < 0) :]
    found, first = np.unique(values[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, first[1:]), strict=False))


def walk(starts: Iterable[int], onward: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Yield the starts and all rows reachable from them, each once, nearest first."""
    queue = list(dict.fromkeys(starts))
    seen = set(queue)
    for row in queue:
        yield row
        for one in onward(row):
            if one not in seen:
                seen.add(one)
                queue.append(one)
