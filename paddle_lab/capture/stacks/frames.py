"""Builds the ``stacks``, ``frames`` and ``sources`` tables from code objects."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_lab.capture.stacks.code_positions import Integers, positions_of
from paddle_lab.capture.stacks.edited_files import source_of
from paddle_lab.capture.stacks.frame_kinds import USER, kind_of
from paddle_lab.capture.stacks.source_texts import Cells, in_characters, source_rows
from paddle_lab.capture.stacks.stack_pool import Location, StackPool
from paddle_lab.capture.stacks.stack_rows import StackRows
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder

_CALLEE = re.compile(r"^(?:self\.)?([A-Za-z]\w*(?:\.\w+)*)\(")


class FrameAssembler:
    """Builds the tables with the places where ops were called.

    A row gets its number when it is requested. At the end, all rows are filled in at once.

    Parameters
    ----------
    pool
        The stacks that were recorded.
    strings
        The record's strings.
    paddle_folder
        Folder of the paddle package.
    cells
        Finds notebook cells by file name.
    """

    def __init__(
        self, pool: StackPool, strings: StringPool, *, paddle_folder: str, cells: Cells
    ) -> None:
        self._rows = StackRows(pool)
        self._strings = strings
        self._paddle_folder = os.path.join(paddle_folder, "")
        self._cells = cells

    def stacks(self, taken: Integers) -> Integers:
        """Return the rows of ``stacks`` for recorded stacks."""
        return self._rows.rows(taken)

    def stack(self, taken: int) -> int:
        """Return the row of ``stacks`` for one stack. It is faster to pass many at once."""
        return int(self.stacks(np.array([taken]))[0])

    def callees(self, locations: Sequence[Location]) -> list[str | None]:
        """Return the name that each call uses, without ``self.``, such as ``"net"`` for ``net(x)``.

        Returns
        -------
        list of (str or None)
            ``None`` if the source has no name there, or if the call is not in the user's code.
        """
        names: list[str | None] = [None] * len(locations)
        calls: dict[int, list[int]] = {}
        for call, (code, _) in enumerate(locations):
            calls.setdefault(id(code), []).append(call)
        for same in calls.values():
            code = locations[same[0]][0]
            if kind_of(code.co_filename, self._paddle_folder) == USER:
                offsets = np.array([locations[call][1] for call in same])
                told = in_characters(code.co_filename, positions_of(code, offsets))
                cells = np.stack(told, axis=1).tolist()
                for call, cell in zip(same, cells, strict=True):
                    names[call] = _name_called(code.co_filename, *cell)
        return names

    def tables(self) -> dict[str, Table]:
        """Return the tables ``stacks``, ``frames`` and ``sources``, after all stacks are recorded.

        Sources contain the text around every line of a frame. Cells and short files of the user
        are stored as a whole.
        """
        frames, lines = self._frames()
        stacks = TableBuilder(RECORD_TABLES["stacks"])
        for stack in self._rows.stacks():
            stacks.append(*stack)
        return {"stacks": stacks.build(), "frames": frames, "sources": self._sources(lines)}

    def _frames(self) -> tuple[Table, dict[str, list[Any]]]:
        """Return the table ``frames``, and the lines of frames in each file, in order of use."""
        frames = self._rows.frames()
        cells = np.empty((len(frames), len(RECORD_TABLES["frames"])), np.int64)
        lines: dict[str, list[Any]] = {}
        rows_of: dict[int, list[int]] = {}
        for row, (number, _) in enumerate(frames):
            rows_of.setdefault(number, []).append(row)
        for number, rows in rows_of.items():
            code = self._rows.codes[number]
            file, offsets = code.co_filename, np.array([frames[row][1] for row in rows])
            told = in_characters(file, positions_of(code, offsets))
            cells[rows, 0] = self._strings[file]
            cells[rows, 1] = self._strings[getattr(code, "co_qualname", code.co_name)]
            cells[rows, 2:6] = np.stack(told, axis=1)
            cells[rows, 6] = kind_of(file, self._paddle_folder)
            cells[rows, 7] = self._cells.number(file)
            if source_of(code)[0]:
                lines.setdefault(file, []).append(told.line)
        columns: dict[str, Any] = dict(zip(RECORD_TABLES["frames"], cells.T, strict=True))
        return Table.from_sequences(RECORD_TABLES["frames"], columns), lines

    def _sources(self, used: dict[str, list[Any]]) -> Table:
        sources = TableBuilder(RECORD_TABLES["sources"])
        for file, lines in used.items():
            told = source_rows(file, np.concatenate(lines), self._cells, self._paddle_folder)
            for name, first, text, cell in told:
                sources.append(self._strings[name], first, self._strings[text], cell)
        return sources.build()


def _name_called(file: str, line: int, end_line: int, column: int, end_column: int) -> str | None:
    if line != end_line:
        return None
    text = linecache.getline(file, line)
    match = _CALLEE.search(text.strip() if column < 0 else text[column:end_column])
    return match[1] if match else None
