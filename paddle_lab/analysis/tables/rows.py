"""Base classes of tables: a row that reads cells of a table, and a sequence of such rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from typing_extensions import Self

from paddle_lab.trace.record import Record
from paddle_lab.trace.trees import Keys

RowT = TypeVar("RowT")
TableT = TypeVar("TableT", bound="RowTable[Any]")


class RecordRow:
    """A row of a record's table. It reads a cell when an attribute is accessed."""

    __slots__ = ("_record", "key")

    _table_name: ClassVar[str]

    def __init__(self, record: Record, key: int) -> None:
        self._record = record
        self.key = key
        """Row in the record's table."""

    def _cell(self, column: str) -> int:
        return int(self._record.tables[self._table_name][column][self.key])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordRow) or type(other) is not type(self):
            return NotImplemented
        return self.key == other.key and self._record is other._record

    def __hash__(self) -> int:
        return hash((self.key, id(self._record)))


class RowTable(Generic[RowT]):
    """Some rows of a table of a record. The columns stay arrays.

    The class is not a ``Sequence``, because Polars would treat a sequence as a list of values and
    would not read the columns.

    Parameters
    ----------
    record
        A record with answer tables.
    keys
        The keys of the rows, int32, shape ``[rows]``; all by default.
    """

    _table_name: ClassVar[str]

    def __init__(self, record: Record, keys: Keys | None = None) -> None:
        self.record = record
        count = len(record.tables[self._table_name])
        self.keys = np.arange(count, dtype=np.int32) if keys is None else keys
        """Rows in the record's table, int32, shape ``[rows]``."""

    @abstractmethod
    def _row(self, key: int) -> RowT: ...

    def _with_keys(self, keys: Keys) -> Self:
        return type(self)(self.record, keys)

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> RowT: ...
    @overload
    def __getitem__(self: TableT, index: slice) -> TableT: ...
    def __getitem__(self, index: int | slice) -> RowT | Self:
        if isinstance(index, slice):
            return self._with_keys(self.keys[index])
        return self._row(int(self.keys[index]))

    def __iter__(self) -> Iterator[RowT]:
        return map(self._row, self.keys.tolist())


class RowList(Generic[RowT]):
    """Rows of an answer that are not in a table of the record."""

    def __init__(self, rows: Sequence[RowT]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> RowT: ...
    @overload
    def __getitem__(self, index: slice) -> Any: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[RowT]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return repr(list(self._rows))
