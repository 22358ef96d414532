"""Functions that make properties of rows, one function for each type of column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from paddle_lab.analysis.tables.rows import RecordRow
from paddle_lab.trace.record import Record

T = TypeVar("T")


class Cell(property, Generic[T]):
    """A property of a row. Its value is read from the column of the same name.

    Parameters
    ----------
    value
        A function that computes the value from the record and the number in the cell.
    doc
        The property's docstring.
    """

    def __init__(self, value: Callable[[Record, int], T], *, doc: str) -> None:
        cell = self

        def read(self: RecordRow) -> T:
            return value(self._record, self._cell(cell.column))

        super().__init__(read)
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.column = name

    if TYPE_CHECKING:

        @overload
        def __get__(self, row: None, owner: type, /) -> Cell[T]: ...
        @overload
        def __get__(self, row: Any, owner: type | None = None, /) -> T: ...
        def __get__(self, row: Any, owner: type | None = None, /) -> Any: ...


def number(*, doc: str) -> Cell[int]:
    """Return a property whose value is the number in the cell."""
    return Cell(lambda _, value: value, doc=doc)


def optional(*, doc: str) -> Cell[int | None]:
    """Return a property whose value is the number in the cell, or None if it is negative."""
    return Cell(lambda _, value: value if value >= 0 else None, doc=doc)


def flag(*, doc: str) -> Cell[bool]:
    """Return a property whose value is a bool."""
    return Cell(lambda _, value: bool(value), doc=doc)


def real(*, doc: str) -> Cell[float]:
    """Return a property whose value is a float, for a column of type ``f32``."""
    return Cell(lambda _, value: float(np.int32(value).view(np.float32)), doc=doc)


def text(*, doc: str) -> Cell[str]:
    """Return a property whose value is text."""
    return Cell(lambda record, code: record.text(code), doc=doc)


def choice(names: Sequence[str], *, doc: str) -> Cell[str]:
    """Return a property whose value is one of an enumeration's names."""
    return Cell(lambda _, position: names[position], doc=doc)
