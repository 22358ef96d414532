"""From code objects to the ``stacks``, ``frames`` and ``sources`` tables."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Sequence
from operator import itemgetter
from types import CodeType
from typing import Any, Protocol

import numpy as np

from paddle_lab.capture.code_positions import Positions, positions_of
from paddle_lab.capture.frame_kinds import USER, is_own, is_runner, kind_of
from paddle_lab.capture.source_texts import in_characters, shown_spans
from paddle_lab.capture.stacks import NO_STACK, Location, StackPool
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import StringPool, Table, TableBuilder


class Cells(Protocol):
    """What tells notebook cells from files, by the file name of a code object."""

    def number(self, file: str) -> int:
        """Return the cell's execution count, or -1."""

    def text(self, file: str) -> str | None:
        """Return the cell's text as typed."""


class NoCells:
    """Outside of notebooks: every file is a file."""

    def number(self, file: str) -> int:
        """Return -1."""
        del file
        return -1

    def text(self, file: str) -> str | None:
        """Return ``None``."""
        del file
        return None


_CALLEE = re.compile(r"^(?:self\.)?([A-Za-z]\w*(?:\.\w+)*)\(")
_code_of = itemgetter(0)


class _Code:
    """A code object that stacks pass through."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.is_own = is_own(code.co_filename)
        self.rows: dict[int, int] = {}
        """Byte offset of an instruction to its row of ``frames``."""


class FrameAssembler:
    """Builds the tables that tell where ops were called.

    Rows are numbered while they are asked for; what is in them is told at the end, of all at once.

    Parameters
    ----------
    pool
        The stacks that were taken.
    strings
        The record's strings.
    paddle_folder
        Folder of the paddle package.
    cells
        Tells notebook cells by file name.
    """

    def __init__(
        self, pool: StackPool, strings: StringPool, *, paddle_folder: str, cells: Cells
    ) -> None:
        self._segments = pool.segments
        self._strings = strings
        self._paddle_folder = os.path.join(paddle_folder, "")
        self._cells = cells
        # By id: hashing a code object would hash its constants every time.
        self._codes: dict[int, _Code] = {}
        self._equal_codes: dict[tuple[CodeType, str], _Code] = {}
        self._no_runners: set[int] = set()
        self._frame_count = 0
        self._stack_rows: dict[tuple[int, int], int] = {}
        self._resolved: dict[int, int] = {NO_STACK: NO_STACK}

    def stack(self, taken: int) -> int:
        """Return the row of ``stacks`` for a stack that was taken while running."""
        resolved, segments = self._resolved, self._segments
        chain = []
        anchor = taken
        while anchor not in resolved:
            chain.append(anchor)
            anchor = segments[anchor][0]
        for key in reversed(chain):
            resolved[key] = self._row(*segments[key])
        return resolved[taken]

    def callees(self, locations: Sequence[Location]) -> list[str | None]:
        """Return what the source of each call calls, without ``self.``: ``"net"`` of ``net(x)``.

        Returns
        -------
        list of (str or None)
            ``None`` where it is no name, or where the call is not in the user's code.
        """
        names: list[str | None] = [None] * len(locations)
        calls: dict[int, list[int]] = {}
        for call, (code, _) in enumerate(locations):
            calls.setdefault(id(code), []).append(call)
        for same in calls.values():
            code = locations[same[0]][0]
            if kind_of(code.co_filename, self._paddle_folder) == USER:
                told = _positions(code, [locations[call][1] for call in same])
                cells = np.stack(told, axis=1).tolist()
                for call, cell in zip(same, cells, strict=True):
                    names[call] = _name_called(code.co_filename, *cell)
        return names

    def tables(self) -> dict[str, Table]:
        """Return the tables ``stacks``, ``frames`` and ``sources``, once all stacks are known.

        Of the sources they hold the text around every line that a frame points at; cells and short
        files whole.
        """
        stacks = np.array(list(self._stack_rows), np.int64).reshape(-1, 2)
        columns: dict[str, Any] = {"frame": stacks[:, 0], "caller": stacks[:, 1]}
        frames, lines = self._frames()
        return {
            "stacks": Table.from_sequences(RECORD_TABLES["stacks"], columns),
            "frames": frames,
            "sources": self._sources(lines),
        }

    def _row(self, anchor: int, locations: list[Location]) -> int:
        if anchor == NO_STACK:
            locations = self._without_runners(locations)
        caller, codes, rows = self._resolved[anchor], self._codes, self._stack_rows
        for code, offset in reversed(locations):
            known = codes.get(id(code)) or self._meet(code)
            if not known.is_own:
                frame = known.rows.get(offset)
                if frame is None:
                    frame = self._frame(known, offset)
                caller = rows.setdefault((frame, caller), len(rows))
        return caller

    def _frame(self, known: _Code, offset: int) -> int:
        if not known.rows:
            # In the order in which one reads the frames.
            self._strings.codes((known.code.co_filename, _function(known.code)))
        frame = known.rows[offset] = self._frame_count
        self._frame_count += 1
        return frame

    def _meet(self, code: CodeType) -> _Code:
        # Code that was made twice, as of a cell's lambda, is the same to whoever reads it.
        equal = self._equal_codes.setdefault((code, code.co_filename), _Code(code))
        self._codes[id(code)] = equal
        return equal

    def _without_runners(self, locations: list[Location]) -> list[Location]:
        if not self._no_runners.issuperset(map(id, map(_code_of, locations))):
            for index, (code, _) in enumerate(locations):
                if is_runner(code.co_filename):
                    return locations[:index]
                self._no_runners.add(id(code))
        return locations

    def _frames(self) -> tuple[Table, dict[str, list[Any]]]:
        """Return the table ``frames``, and the lines it has of each file, in order of first use."""
        cells = np.empty((self._frame_count, len(RECORD_TABLES["frames"])), np.int64)
        lines: dict[str, list[Any]] = {}
        used = [code for code in self._equal_codes.values() if code.rows]
        for known in sorted(used, key=lambda code: next(iter(code.rows.values()))):
            file = known.code.co_filename
            rows = np.fromiter(known.rows.values(), np.int64, len(known.rows))
            told = _positions(known.code, list(known.rows))
            cells[rows, 0] = self._strings[file]
            cells[rows, 1] = self._strings[_function(known.code)]
            cells[rows, 2:6] = np.stack(told, axis=1)
            cells[rows, 6] = kind_of(file, self._paddle_folder)
            cells[rows, 7] = self._cells.number(file)
            lines.setdefault(file, []).append(told.line)
        columns: dict[str, Any] = dict(zip(RECORD_TABLES["frames"], cells.T, strict=True))
        return Table.from_sequences(RECORD_TABLES["frames"], columns), lines

    def _sources(self, used: dict[str, list[Any]]) -> Table:
        sources = TableBuilder(RECORD_TABLES["sources"])
        for file, lines_used in used.items():
            typed = self._cells.text(file)
            lines = linecache.getlines(file) if typed is None else typed.splitlines(keepends=True)
            cell = self._cells.number(file)
            is_users = cell >= 0 or kind_of(file, self._paddle_folder) == USER
            if not lines:
                continue
            spans = shown_spans(np.concatenate(lines_used), len(lines), is_whole=is_users)
            for first, last in [(1, len(lines))] if cell >= 0 else spans:
                text = "".join(lines[first - 1 : last])
                sources.append(self._strings[file], first, self._strings[text], cell)
        return sources.build()


def _name_called(file: str, line: int, end_line: int, column: int, end_column: int) -> str | None:
    if line != end_line:
        return None
    text = linecache.getline(file, line)
    match = _CALLEE.search(text.strip() if column < 0 else text[column:end_column])
    return match[1] if match else None


def _positions(code: CodeType, offsets: list[int]) -> Positions:
    told = positions_of(code, np.array(offsets, np.int64))
    return in_characters(code.co_filename, told)


def _function(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)
