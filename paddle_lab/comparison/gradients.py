"""The gradients of two traces: which is which, and what differs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.comparison.align import occurrences
from paddle_lab.comparison.errors import Errors, errors_between, least_error
from paddle_lab.comparison.side import Side
from paddle_lab.trace.distinct import Hashes, mixed
from paddle_lab.trace.schema import COMPARE_STATES
from paddle_lab.trace.trees import taken

EQUAL, DIFFERENT, ONLY_A, ONLY_B = map(COMPARE_STATES.index, COMPARE_STATES[:4])

Keys = npt.NDArray[np.int64]


class ComparedGradients(NamedTuple):
    """The gradients in trace b's order, then those only in a. Rows of ``grad_stats``, or -1."""

    a: Keys
    b: Keys
    row: Keys
    """The row of the op whose grad node passed the gradient on."""
    state: npt.NDArray[np.uint8]
    errors: dict[int, Errors]

    def first(self) -> int:
        """Return the first gradient that both traces have and that differs, -1 if none does."""
        return int(np.append(np.flatnonzero(self.state == DIFFERENT), -1)[0])


def compared_gradients(
    a: Side, b: Side, row_of_a: Keys, row_of_b: Keys, tolerance: float
) -> ComparedGradients:
    """Compare the gradients of two traces whose digests are of the same kind.

    Parameters
    ----------
    row_of_a, row_of_b
        The row of each op in the comparison.
    """
    (key_a, stat_a, row_a), (key_b, stat_b, row_b) = _keyed(a, row_of_a), _keyed(b, row_of_b)
    _, at_a, at_b = np.intersect1d(key_a, key_b, assume_unique=True, return_indices=True)
    partner = np.full(len(key_b), -1)
    partner[at_b] = stat_a[at_a]
    only_a = np.delete(np.arange(len(key_a)), at_a)
    one = np.concatenate((partner, stat_a[only_a]))
    two = np.concatenate((stat_b, np.full(len(only_a), -1)))
    row = np.concatenate((row_b, row_a[only_a]))
    is_equal = _digests(a)[one] == _digests(b)[two]
    state = np.where(
        one < 0, ONLY_B, np.where(two < 0, ONLY_A, np.where(is_equal, EQUAL, DIFFERENT))
    )
    errors = {}
    measures = tolerance > 0 or (a.record.grad_values and b.record.grad_values)
    for at in np.flatnonzero(state == DIFFERENT).tolist() if measures else ():
        errors[at] = _errors(a, b, int(one[at]), int(two[at]))
        if not errors[at].exceed(tolerance):
            state[at] = EQUAL
    return ComparedGradients(one, two, row, state.astype(np.uint8), errors)


def _keyed(side: Side, row_of: Keys) -> tuple[Hashes, Keys, Keys]:
    """Return for each gradient that has a digest: a key, its row of ``grad_stats``, the op's row.

    The key has the op's row, the slot in which its grad node passed the gradient on, and the count.
    """
    record, stats = side.record, side.record.grad_stats
    stat = np.sort(record.grad_digests["grad_stat"])
    row = np.append(row_of, -1)[taken(record.grad_nodes["op"], stats["grad_node"][stat])]
    stat, row = stat[row >= 0], row[row >= 0]
    key = mixed(row, taken(record.grad_edges["slot"], stats["grad_edge"][stat]))
    return mixed(key, occurrences(key)), stat, row


def _digests(side: Side) -> Keys:
    found = np.zeros(len(side.record.grad_stats) + 1, np.int64)
    digests = side.record.grad_digests
    found[digests["grad_stat"]] = digests["digest"]
    return found


def _errors(a: Side, b: Side, one: int, two: int) -> Errors:
    kept: tuple[Any, Any] = a.record.grad_values.get(one), b.record.grad_values.get(two)
    if kept[0] is not None and kept[1] is not None:
        return errors_between(*kept)
    return Errors(least=least_error(a.record.grad_stats, one, b.record.grad_stats, two))
