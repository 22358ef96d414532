"""Tables for other libraries: as a pandas data frame, as an Arrow stream and as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paddle_lab.analysis.tables.columns import Partial, Values, listed
from paddle_lab.trace.file import write_atomically
from paddle_lab.words import say

if TYPE_CHECKING:
    import pandas


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Framed:
    """A table that other libraries can also read.

    pandas, Polars, DuckDB, pyarrow and others also read the table itself, because it has the Arrow
    PyCapsule interface: ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)``, ``duckdb.sql("select * from ops")``.
    """

    _index: ClassVar[str] = ""
    """The column that becomes the index of a data frame."""

    def _columns(self) -> dict[str, Values]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with one row for each row of the table.

        Rows of the record's own tables are indexed by their keys.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(say("errors.pandas")) from error
        columns = self._columns()
        keys = columns.pop(self._index) if self._index else None
        index = None if keys is None else pandas.Index(keys, name=self._index)
        cells = {name: _series(pandas, values) for name, values in columns.items()}
        return pandas.DataFrame(cells, index=index)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as comma-separated values, and return the path.

        An unknown value is empty. A text that a spreadsheet would read as a formula gets an
        apostrophe before it, because a trace may come from another person.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        return write_atomically(path, csv_text(self._columns()).encode("utf-8"))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        from paddle_lab.analysis.tables.arrow import arrow_stream

        return arrow_stream(self._columns(), requested_schema)


def attributes(rows: Iterable[Any], names: Sequence[str]) -> dict[str, Values]:
    """Return a column for each name: the attribute of this name of all rows."""
    rows = list(rows)
    return {name: [getattr(row, name) for row in rows] for name in names}


def csv_text(columns: Mapping[str, Values]) -> str:
    """Return the text of a CSV file: a line of column names, and a line for each row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    cells = ([_csv_cell(value) for value in listed(values)] for values in columns.values())
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _series(pandas: Any, values: Values) -> Any:
    if isinstance(values, Partial) and values.values.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(values.values.astype(np.int64), values.is_unknown)
    cells = listed(values) if isinstance(values, Partial) else values
    if isinstance(cells, list) and None in cells and {*map(type, cells)} == {int, type(None)}:
        return pandas.array(cells, dtype="Int64")
    return cells
