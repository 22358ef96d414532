"""From code objects to the ``stacks``, ``frames`` and ``sources`` tables."""

from __future__ import annotations

import linecache
import os
import re
import site
import sys
import sysconfig
from collections import defaultdict
from functools import lru_cache
from types import CodeType
from typing import Protocol

from paddle_lab.capture.stacks import NO_STACK, Location, StackPool
from paddle_lab.trace.schema import FRAME_KINDS, RECORD_TABLES
from paddle_lab.trace.table import StringPool, TableBuilder

USER = FRAME_KINDS.index("user")
LIBRARY = FRAME_KINDS.index("library")
PADDLE = FRAME_KINDS.index("paddle")


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


_Position = tuple[int | None, int | None, int | None, int | None]
_OWN_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_CALLEE = re.compile(r"^(?:self\.)?([A-Za-z]\w*(?:\.\w+)*)\(")
_WHOLE_FILE_LINES = 400
_CONTEXT_LINES = 4
# What runs a notebook cell or a script, outward of which nothing is the user's.
_RUNNERS = (
    os.path.join("IPython", "core", "interactiveshell.py"),
    os.path.join("IPython", "core", "async_helpers.py"),
    "<frozen runpy>",
    os.path.join("lib", "runpy.py"),
)


class FrameAssembler:
    """Builds the tables that tell where ops were called.

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
        self.stacks = TableBuilder(RECORD_TABLES["stacks"])
        self.frames = TableBuilder(RECORD_TABLES["frames"])
        self.sources = TableBuilder(RECORD_TABLES["sources"])
        self._pool = pool
        self._strings = strings
        self._paddle_folder = os.path.join(paddle_folder, "")
        self._cells = cells
        self._frame_keys: dict[Location, int] = {}
        self._stack_keys: dict[tuple[int, int], int] = {}
        self._resolved: dict[int, int] = {NO_STACK: NO_STACK}
        self._lines: dict[str, set[int]] = defaultdict(set)
        self._positions: dict[int, tuple[CodeType, list[_Position]]] = {}

    def stack(self, taken: int) -> int:
        """Return the row of ``stacks`` for a stack that was taken while running."""
        chain = []
        while taken not in self._resolved:
            chain.append(taken)
            taken = self._pool.segments[taken][0]
        for key in reversed(chain):
            anchor, locations = self._pool.segments[key]
            caller = self._resolved[anchor]
            if anchor == NO_STACK:
                locations = _without_runners(locations)
            for location in reversed(locations):
                if not location[0].co_filename.startswith(_OWN_FOLDER):
                    caller = self._row(self._frame(location), caller)
            self._resolved[key] = caller
        return self._resolved[chain[0] if chain else taken]

    def callee(self, location: Location) -> str | None:
        """Return what a call's source calls, without ``self.``: ``"net"`` of ``net(x)``.

        Returns
        -------
        str or None
            ``None`` where it is no name, or where the call is not in the user's code.
        """
        file = location[0].co_filename
        line, end_line, column, end_column = self._position(*location)
        if self._kind(file) != USER or line != end_line:
            return None
        text = (
            linecache.getline(file, line).strip() if column < 0 else linecache.getline(file, line)
        )
        match = _CALLEE.search(text if column < 0 else text[column:end_column])
        return match[1] if match else None

    def add_sources(self) -> None:
        """Store the text around every line that a frame points at; cells and short files whole."""
        for file, used in self._lines.items():
            typed = self._cells.text(file)
            lines = linecache.getlines(file) if typed is None else typed.splitlines(keepends=True)
            cell = self._cells.number(file)
            if not lines:
                continue
            if cell >= 0 or (len(lines) <= _WHOLE_FILE_LINES and self._kind(file) == USER):
                spans = [(1, len(lines))]
            else:
                spans = _merged([(line - _CONTEXT_LINES, line + _CONTEXT_LINES) for line in used])
            for start, end in spans:
                first, last = max(start, 1), min(end, len(lines))
                text = "".join(lines[first - 1 : last])
                self.sources.append(self._strings[file], first, self._strings[text], cell)

    def _row(self, frame: int, caller: int) -> int:
        key = self._stack_keys.get((frame, caller))
        if key is None:
            key = self._stack_keys[frame, caller] = self.stacks.append(frame, caller)
        return key

    def _frame(self, location: Location) -> int:
        key = self._frame_keys.get(location)
        if key is not None:
            return key
        code, offset = location
        line, end_line, column, end_column = self._position(code, offset)
        file = code.co_filename
        self._lines[file].add(line)
        function = getattr(code, "co_qualname", code.co_name)
        key = self.frames.append(
            self._strings[file],
            self._strings[function],
            line,
            end_line,
            column,
            end_column,
            self._kind(file),
            self._cells.number(file),
        )
        self._frame_keys[location] = key
        return key

    def _position(self, code: CodeType, offset: int) -> tuple[int, int, int, int]:
        # Code tells its positions from the start only: a long function must not be read once an op.
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = (code, _positions(code))
        line, end_line, column, end_column = known[1][offset // 2]
        if line is None:
            return code.co_firstlineno, code.co_firstlineno, -1, -1
        last_line = line if end_line is None else end_line
        if column is None or end_column is None:
            return line, last_line, -1, -1
        return (line, last_line, *_characters(code, line, last_line, column, end_column))

    def _kind(self, file: str) -> int:
        if file.startswith(self._paddle_folder):
            return PADDLE
        if file.startswith(("<frozen", *_library_folders())):
            # A virtual environment inside the user's project is still no code of theirs.
            return LIBRARY
        return USER


def _positions(code: CodeType) -> list[_Position]:
    """Return line, end line, column and end column of each instruction, as far as known."""
    if sys.version_info >= (3, 11):
        return list(code.co_positions())
    positions: list[_Position] = [(None, None, None, None)] * (len(code.co_code) // 2)
    for start, end, line in code.co_lines():
        positions[start // 2 : end // 2] = [(line, line, None, None)] * ((end - start) // 2)
    return positions


def _characters(
    code: CodeType, line: int, end_line: int, column: int, end_column: int
) -> tuple[int, int]:
    # Python counts columns in bytes of UTF-8; people and editors count characters.
    first = linecache.getline(code.co_filename, line)
    last = linecache.getline(code.co_filename, end_line)
    return _character(first, column), _character(last, end_column)


def _character(line: str, byte: int) -> int:
    return byte if line.isascii() else len(line.encode()[:byte].decode(errors="ignore"))


def _without_runners(locations: list[Location]) -> list[Location]:
    for index, (code, _) in enumerate(locations):
        if code.co_filename.endswith(_RUNNERS):
            return locations[:index]
    return locations


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


@lru_cache(maxsize=1)
def _library_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]}
    folders.update(site.getsitepackages())
    folders.add(site.getusersitepackages())
    folders.add(os.path.join(sys.base_prefix, "lib", "python"))
    return tuple(os.path.join(folder, "") for folder in folders if folder)
