"""The source positions of all instructions of a code object, read at once."""

from __future__ import annotations

import sys
from types import CodeType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.stacks.edited_files import source_of

Integers = npt.NDArray[np.int64]
Told = tuple[int | None, int | None, int | None, int | None]

NO_COLUMN = -1


class Positions(NamedTuple):
    """Lines count from 1. Columns count from 0, in bytes of UTF-8; -1 if Python has none."""

    line: Integers
    end_line: Integers
    column: Integers
    end_column: Integers


def positions_of(code: CodeType, offsets: Integers) -> Positions:
    """Return the source positions of instructions.

    Parameters
    ----------
    code
        The code object.
    offsets
        Byte offsets of instructions (``f_lasti``), shape ``[instructions]``. An instruction without
        a known line gets the function's first line.
    """
    _, code, lines = source_of(code)
    told = told_positions(code)
    rows = [_numbers(told[unit], code.co_firstlineno) for unit in (offsets // 2).tolist()]
    if lines:
        rows = [(lines.get(line, line),) * 2 + (NO_COLUMN,) * 2 for line, _, _, _ in rows]
    return Positions(*np.array(rows, np.int64).reshape(-1, 4).T)


def told_positions(code: CodeType) -> list[Told]:
    """Return the line, end line, column and end column of each code unit."""
    if sys.version_info >= (3, 11):
        return list(code.co_positions())
    told: list[Told] = [(None, None, None, None)] * (len(code.co_code) // 2)
    for start, end, line in code.co_lines():
        told[start // 2 : end // 2] = [(line, line, None, None)] * ((end - start) // 2)
    return told


def _numbers(told: Told, first_line: int) -> tuple[int, int, int, int]:
    line, end_line, column, end_column = told
    if line is None:
        return first_line, first_line, NO_COLUMN, NO_COLUMN
    if column is None or end_column is None:
        column = end_column = NO_COLUMN
    return line, line if end_line is None else end_line, column, end_column
