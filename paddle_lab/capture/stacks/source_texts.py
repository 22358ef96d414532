"""The table ``sources``: the text around the lines to which a record refers."""

from __future__ import annotations

import linecache
from typing import Protocol

import numpy as np

from paddle_lab.capture.stacks.code_positions import NO_COLUMN, Integers, Positions
from paddle_lab.capture.stacks.frame_kinds import USER, kind_of

_WHOLE_FILE_LINES = 400
_CONTEXT_LINES = 4


class Cells(Protocol):
    """Finds notebook cells by the file name of a code object."""

    def number(self, file: str) -> int:
        """Return the execution count of the cell, or -1."""

    def text(self, file: str) -> str | None:
        """Return the text of the cell as typed."""


class NoCells:
    """Stands for the cells outside of notebooks, where there are none."""

    def number(self, file: str) -> int:
        """Return -1."""
        del file
        return -1

    def text(self, file: str) -> str | None:
        """Return ``None``."""
        del file
        return None


def in_characters(file: str, told: Positions) -> Positions:
    """Return positions whose columns count characters, as editors do.

    Python's columns count bytes of UTF-8.
    """
    lines = linecache.getlines(file)
    if not len(told.line) or "".join(lines[told.line.min() - 1 : told.end_line.max()]).isascii():
        return told
    column, end_column = told.column.copy(), told.end_column.copy()
    for row in np.flatnonzero(told.column != NO_COLUMN).tolist():
        column[row] = _character(lines, int(told.line[row]), int(column[row]))
        end_column[row] = _character(lines, int(told.end_line[row]), int(end_column[row]))
    return told._replace(column=column, end_column=end_column)


def _character(lines: list[str], number: int, byte: int) -> int:
    line = lines[number - 1] if 1 <= number <= len(lines) else ""
    return byte if line.isascii() else len(line.encode()[:byte].decode(errors="ignore"))


def shown_spans(used: Integers, line_count: int, *, is_whole: bool) -> list[tuple[int, int]]:
    """Return the first and last line of each part of a text that a record stores.

    Parameters
    ----------
    used
        The lines of frames, from 1, in any order, with repetitions.
    line_count
        How many lines the text has.
    is_whole
        Whether to store a short text as a whole, instead of the lines around the used ones.
    """
    if is_whole and line_count <= _WHOLE_FILE_LINES:
        return [(1, line_count)]
    lines = np.unique(used)
    is_apart = np.diff(lines) > 2 * _CONTEXT_LINES + 1
    first = lines[np.append(True, is_apart)] - _CONTEXT_LINES
    last = lines[np.append(is_apart, True)] + _CONTEXT_LINES
    spans = zip(first.tolist(), last.tolist(), strict=True)
    return [(max(start, 1), min(end, line_count)) for start, end in spans]


def source_rows(
    file: str, used: Integers, cells: Cells, paddle_folder: str
) -> list[tuple[str, int, str, int]]:
    """Return file, first line, text and cell of each part of a file that a record stores.

    Parameters
    ----------
    used
        The lines of frames. A cell is stored as a whole.
    """
    typed, cell = cells.text(file), cells.number(file)
    lines = linecache.getlines(file) if typed is None else typed.splitlines(keepends=True)
    if not lines:
        return []
    is_users = cell >= 0 or kind_of(file, paddle_folder) == USER
    spans = [(1, len(lines))]
    if cell < 0:
        spans = shown_spans(used, len(lines), is_whole=is_users)
    return [(file, first, "".join(lines[first - 1 : last]), cell) for first, last in spans]
