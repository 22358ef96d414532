"""Functions for the columns of several tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle_lab.capture.rows.tape import Cells
from paddle_lab.trace.table import StringPool


def text_codes(keys: Cells, text_of: Callable[[int], str], strings: StringPool) -> Cells:
    """Return the code of each row's text, in the order of their first use.

    Parameters
    ----------
    keys
        One key per row, equal for equal texts; -1 for the empty text.
    text_of
        Returns the text of a key. It is asked once for each.
    """
    used, first = np.unique(keys, return_index=True)
    used = used[np.argsort(first)]
    used = used[used >= 0]
    codes = np.zeros(int(used.max(initial=-1)) + 2, np.int64)
    codes[used] = strings.codes(map(text_of, used.tolist()))
    coded: Cells = codes[keys]
    return coded


def spread(counts: Cells) -> tuple[Cells, Cells]:
    """Return each entry's row, and its number within the row, from the count of entries per row."""
    row = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(counts)
    return row, np.arange(len(row)) - (ends - counts)[row]
