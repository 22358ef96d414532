"""Columns of a record as look-ups."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.analysis.graph.trees import Rows, rows_by
from paddle_lab.trace.schema import ROLES

Entry = Callable[[int], int]
"""Maps a row to the content of its cell."""
Mask = npt.NDArray[np.bool_]


def column(table: str, name: str) -> cached_property[Entry]:
    """Return a property of `Facts` that looks up a column, in a list because that is faster."""
    return cached_property(lambda facts: facts.record.tables[table][name].tolist().__getitem__)


def text_column(table: str, name: str) -> cached_property[Callable[[int], str]]:
    """Return a property of `Facts` that looks up a column of texts."""
    return cached_property(
        lambda facts: (
            list(map(facts.record.text, facts.record.tables[table][name].tolist())).__getitem__
        )
    )


def rows(
    table: str, key: str, value: str = "", *, of: str, role: str = ""
) -> cached_property[Rows]:
    """Return a property of `Facts` that maps a row of the table ``of`` to the rows that name it.

    Parameters
    ----------
    key
        The column that names the row.
    value
        The column to return; without one, the row's number in ``table``.
    role
        For the table ``uses``: count only rows with this role and with a tensor.
    """

    def make(facts: Any) -> Rows:
        columns = facts.record.tables[table]
        keys, values = columns[key], columns[value] if value else np.arange(len(columns))
        if role:
            counts = (columns["role"] == ROLES.index(role)) & (columns["tensor"] >= 0)
            keys, values = keys[counts], values[counts]
        return rows_by(keys, values, len(facts.record.tables[of]))

    return cached_property(make)
