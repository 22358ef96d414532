"""A columnar table with typed columns, and a builder that appends rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.schema import Columns


def storage_dtype(column_type: str) -> np.dtype[Any]:
    """Return the dtype of a column of ``column_type`` in memory.

    Parameters
    ----------
    column_type
        A type of :data:`paddle_lab.trace.schema.Columns`.

    Returns
    -------
    numpy.dtype
        ``int64`` for ``i64``, ``uint8`` for ``bool`` and ``enum:…``, ``int32`` for the rest.
    """
    if column_type == "i64":
        return np.dtype(np.int64)
    if column_type == "bool" or column_type.startswith("enum:"):
        return np.dtype(np.uint8)
    return np.dtype(np.int32)


class Table:
    """Columns of equal length, each a one-dimensional array.

    Parameters
    ----------
    columns
        Column name to array of shape ``[rows]``.

    Raises
    ------
    ValueError
        If the columns differ in length.
    """

    def __init__(self, columns: dict[str, npt.NDArray[Any]]) -> None:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of unequal length: {sorted(lengths)}")
        self.columns = columns
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        return self.columns[column]

    @classmethod
    def from_sequences(cls, schema: Columns, sequences: dict[str, Sequence[int]]) -> Table:
        """Make a table from one sequence of integers per column, in the order of ``schema``."""
        return cls(
            {
                name: np.asarray(sequences[name], dtype=storage_dtype(column_type))
                for name, column_type in schema.items()
            }
        )

    @classmethod
    def empty(cls, schema: Columns) -> Table:
        """Make a table without rows."""
        return cls.from_sequences(schema, dict.fromkeys(schema, ()))

    def appended(self, **columns: Sequence[int] | npt.NDArray[Any]) -> Table:
        """Return the table with more rows. In the new rows, columns that are not given are -1."""
        nothing = np.full(len(next(iter(columns.values()))), -1)
        return Table(
            {
                name: np.append(column, columns.get(name, nothing)).astype(column.dtype)
                for name, column in self.columns.items()
            }
        )


class TableBuilder:
    """Appends rows one by one. They are kept as machine integers (8 bytes per cell).

    Parameters
    ----------
    schema
        The table's columns; rows are appended in their order.
    """

    def __init__(self, schema: Columns) -> None:
        self._schema = schema
        self._cells = array("q")
        self.append_cells = self._cells.extend
        """Append one row's cells, or several rows', as one flat sequence of integers."""

    def __len__(self) -> int:
        return len(self._cells) // len(self._schema)

    def append(self, *row: int) -> int:
        """Append a row and return its key."""
        key = len(self._cells) // len(self._schema)
        self._cells.extend(row)
        return key

    def set(self, key: int, column: str, value: int) -> None:
        """Overwrite one cell."""
        width = len(self._schema)
        self._cells[key * width + list(self._schema).index(column)] = value

    def get(self, key: int, column: str) -> int:
        """Return one cell."""
        width = len(self._schema)
        return self._cells[key * width + list(self._schema).index(column)]

    def build(self) -> Table:
        """Return the rows as a :class:`Table`. More rows can be appended later."""
        cells = np.frombuffer(self._cells.tobytes(), dtype=np.int64).reshape(-1, len(self._schema))
        return Table(
            {
                name: np.ascontiguousarray(cells[:, i]).astype(storage_dtype(column_type))
                for i, (name, column_type) in enumerate(self._schema.items())
            }
        )


class StringPool:
    """Distinct strings in order of first use; ``pool[text]`` is the string's code.

    Parameters
    ----------
    strings
        Strings that keep their codes (their positions). New strings are added after them.
    """

    def __init__(self, strings: Sequence[str] = ("",)) -> None:
        self._strings = list(strings)
        self._codes = {text: code for code, text in enumerate(self._strings)}

    def __getitem__(self, text: str) -> int:
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self._strings)
            self._strings.append(text)
        return code

    def codes(self, texts: Iterable[str]) -> list[int]:
        """Return the code of each string, like ``pool[text]`` for one string."""
        asked, known = list(texts), self._codes
        new = [text for text in dict.fromkeys(asked) if text not in known]
        known.update(zip(new, count(len(self._strings)), strict=False))
        self._strings += new
        return list(map(known.__getitem__, asked))

    def to_list(self) -> list[str]:
        """Return the strings. A string's code is its position; ``""`` has code 0 by default."""
        return list(self._strings)
