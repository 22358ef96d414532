"""Where in its file each instruction of a code object stands, all asked for at once.

``co_positions()`` makes a tuple for every instruction and every cache entry behind it: 62,500 of a
function of 5,000 lines, of which a trace wants 5,000. From Python 3.11 on they are read from the
table that ``co_positions()`` reads itself (CPython's ``Objects/locations.md``).
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
_Told = tuple[int | None, int | None, int | None, int | None]

NO_COLUMN = -1
_IS_TABLE_KNOWN = (3, 11) <= sys.version_info < (3, 15)
_FEW_INSTRUCTIONS = 256
"""Fewer are told sooner by a list of them all."""
_ONE_LINE, _NO_COLUMNS, _LONG, _NONE = 10, 13, 14, 15
"""Kinds of entries: the first of three of one line, and those after them. Below are short ones."""


class Positions(NamedTuple):
    """Lines count from 1; columns from 0, in bytes of UTF-8, -1 where Python does not tell."""

    line: Integers
    end_line: Integers
    column: Integers
    end_column: Integers


def positions_of(code: CodeType, offsets: Integers) -> Positions:
    """Return where instructions stand.

    Parameters
    ----------
    code
        The code object.
    offsets
        Byte offsets of instructions (``f_lasti``), shape ``[instructions]``. One that no line is
        known of is at the function's first line.
    """
    if _IS_TABLE_KNOWN and len(code.co_code) > 2 * _FEW_INSTRUCTIONS:
        return told_by_table(code, offsets)
    return told_by_list(code, offsets)


def told_by_list(code: CodeType, offsets: Integers) -> Positions:
    """Return where instructions stand, from a list of all there are."""
    known: list[_Told]
    if sys.version_info >= (3, 11):
        known = list(code.co_positions())
    else:
        known = [(None, None, None, None)] * (len(code.co_code) // 2)
        for start, end, line in code.co_lines():
            known[start // 2 : end // 2] = [(line, line, None, None)] * ((end - start) // 2)
    cells = np.full((len(offsets), 4), NO_COLUMN, np.int64)
    for row, unit in enumerate((offsets // 2).tolist()):
        line, end_line, column, end_column = known[unit]
        if line is None:
            line = end_line = code.co_firstlineno
            column = None
        cells[row, :2] = line, line if end_line is None else end_line
        if column is not None and end_column is not None:
            cells[row, 2:] = column, end_column
    return Positions(*cells.T)


def told_by_table(code: CodeType, offsets: Integers) -> Positions:
    """Return where instructions stand, from the table that Python keeps of them."""
    table = np.frombuffer(code.co_linetable + bytes(2), np.uint8)
    starts = np.flatnonzero(table & 128)
    kind, length = (table[starts] >> 3) & 15, (table[starts] & 7) + 1
    first, second = table[starts + 1].astype(np.int64), table[starts + 2].astype(np.int64)
    is_short = kind < _ONE_LINE
    is_one_line = ~is_short & (kind < _NO_COLUMNS)
    down = np.where(is_one_line, kind.astype(np.int64) - _ONE_LINE, 0)
    short_column = (kind.astype(np.int64) << 3) | (first >> 4)
    column = np.where(is_short, short_column, np.where(is_one_line, first, NO_COLUMN))
    short_end = short_column + (first & 15)
    end_column = np.where(is_short, short_end, np.where(is_one_line, second, NO_COLUMN))
    height = np.zeros(len(starts), np.int64)
    for entry in np.flatnonzero((kind == _NO_COLUMNS) | (kind == _LONG)).tolist():
        numbers = _numbers(code.co_linetable, int(starts[entry]) + 1)
        down[entry] = -(numbers[0] >> 1) if numbers[0] & 1 else numbers[0] >> 1
        if kind[entry] == _LONG:
            height[entry] = numbers[1]
            column[entry], end_column[entry] = numbers[2] - 1, numbers[3] - 1
    line = code.co_firstlineno + np.cumsum(down)
    entry = np.searchsorted(np.cumsum(length, dtype=np.int64), offsets // 2, side="right")
    is_known = kind[entry] != _NONE
    has_columns = is_known & (column[entry] >= 0) & (end_column[entry] >= 0)
    return Positions(
        np.where(is_known, line[entry], code.co_firstlineno),
        np.where(is_known, (line + height)[entry], code.co_firstlineno),
        np.where(has_columns, column[entry], NO_COLUMN),
        np.where(has_columns, end_column[entry], NO_COLUMN),
    )


def _numbers(table: bytes, at: int) -> list[int]:
    """Return the numbers of one entry: six bits a byte, the lowest first, 64 where more follow."""
    numbers: list[int] = []
    value = shift = 0
    while at < len(table) and table[at] < 128:
        value |= (table[at] & 63) << shift
        shift += 6
        if not table[at] & 64:
            numbers.append(value)
            value = shift = 0
        at += 1
    return numbers
