"""Maps keys of a running trace to rows of the record's tables, and texts to their codes.

Keys count from 0, and usually a key is equal to its row. Some keys have no row, because an
interrupt came at the end of the op, or because the trace dropped the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.rows.tape import Cells
from paddle_lab.trace.table import StringPool

NO_ROW = -1

Rows = npt.NDArray[np.int64]


class RowKeys:
    """The rows of one table.

    Parameters
    ----------
    keys
        The key of each row, ascending.
    """

    def __init__(self, keys: npt.NDArray[Any]) -> None:
        self.keys = keys
        self._is_plain = not len(keys) or int(keys[-1]) == len(keys) - 1

    def __len__(self) -> int:
        return len(self.keys)

    def rows(self, keys: npt.NDArray[Any]) -> Rows:
        """Return the row of each key as int64; -1 if the key has no row."""
        if self._is_plain:
            return np.where(keys < len(self.keys), keys, NO_ROW)
        rows = np.searchsorted(self.keys, keys)
        is_there = np.append(self.keys, NO_ROW)[rows] == keys
        return np.where(is_there & (keys >= 0), rows, NO_ROW)

    def row(self, key: int) -> int:
        """Return the row of a key, -1 if the key has no row."""
        return int(self.rows(np.array([key]))[0])

    def column(self, values: dict[int, int], others: RowKeys) -> Rows:
        """Return a column that refers to rows of another table, -1 for none.

        Parameters
        ----------
        values
            Maps keys of this table to keys of the other table.
        """
        rows = self.rows(np.fromiter(values.keys(), np.int64, len(values)))
        found = others.rows(np.fromiter(values.values(), np.int64, len(values)))
        column = np.full(len(self), NO_ROW, np.int64)
        column[rows[rows >= 0]] = found[rows >= 0]
        return column

    def counts_before(self, keys: npt.NDArray[Any]) -> Rows:
        """Return, for each key, how many rows have a smaller key, int64."""
        return np.searchsorted(self.keys, keys)


class RecordKeys(NamedTuple):
    """The keys and rows of all tables to which other tables refer."""

    ops: RowKeys
    tensors: RowKeys
    scopes: RowKeys
    grad_nodes: RowKeys
    grad_edges: RowKeys
    backward_calls: RowKeys


def text_codes(keys: Cells, text_of: Callable[[int], str], strings: StringPool) -> Cells:
    """Return the code of each row's text. New codes are in the order of first use.

    Parameters
    ----------
    keys
        A key for each row, equal for equal texts; -1 for the empty text.
    text_of
        Returns the text of a key. It is called once for each key.
    """
    used, first = np.unique(keys, return_index=True)
    used = used[np.argsort(first)]
    used = used[used >= 0]
    codes = np.zeros(int(used.max(initial=-1)) + 2, np.int64)
    codes[used] = strings.codes(map(text_of, used.tolist()))
    coded: Cells = codes[keys]
    return coded


def spread(counts: Cells) -> tuple[Cells, Cells]:
    """Return the row of each entry and its position in the row; ``counts`` has entries per row."""
    row = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    return row, np.arange(len(row)) - (ends - counts)[row]
