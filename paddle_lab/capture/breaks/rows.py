"""The breaks of a call in the form that is shown: each once, with its line and expression."""

from __future__ import annotations

import ast
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from paddle_lab.capture.breaks.guards import Missed
from paddle_lab.capture.breaks.kinds import cause_of
from paddle_lab.capture.breaks.sources import Source, function_node, own_nodes, source_at
from paddle_lab.capture.breaks.spots import Spot
from paddle_lab.capture.breaks.watch import Broken, Recompiled
from paddle_lab.capture.stacks.frame_kinds import USER, kind_of

_LONGEST_SAID = 200
_SKIPPED = {"With": "with", "AsyncWith": "with", "Try": "try", "TryStar": "try"}
_LIBRARIES = {"numpy": "numpy", "paddle": "paddle-api", "python": "builtin"}
"""The kinds of breaks in functions of libraries that a line calls."""
_READ = re.compile(r"\.(?:numpy|item|tolist)\(\)$")


class BreakRow(NamedTuple):
    """A break, a fallback, or a function that cannot be compiled."""

    kind: str
    file: str
    line: int
    cause: str
    """The expression; empty if there is no source."""
    said: str
    """Paddle's reason, on one line; empty if Paddle gives none."""
    function: str
    """The function that runs eagerly as a whole; empty if the break only splits functions."""
    spots: tuple[Spot, ...]
    """The line of the break, and the line's callers in the translated code, innermost first."""


class RecompilationRow(NamedTuple):
    """A compilation of a function that had been compiled before."""

    file: str
    line: int
    missed: Missed
    function: str
    spots: tuple[Spot, ...]
    """The line that reads the changed value."""


def break_rows(found: Iterable[Broken]) -> list[BreakRow]:
    """Return each break once."""
    rows: list[BreakRow] = []
    for broken in found:
        for row in _rows_of(broken):
            if row.function.startswith("<") and any(row[1:3] == one[1:3] for one in rows):
                continue  # a comprehension that runs eagerly because of the break inside it
            at = next((at for at, one in enumerate(rows) if _are_one(one, row)), -1)
            if at < 0:
                rows.append(row)
            else:
                first, longer = rows[at], max(rows[at], row, key=lambda one: len(one.cause))
                rows[at] = longer._replace(
                    said=first.said or row.said, function=first.function or row.function
                )
    return rows


def skipped_rows(code: CodeType) -> list[BreakRow]:
    """Return why SOT never translates a function; empty if it does.

    SOT silently runs a function eagerly if its code has an exception table. From Python 3.11 on,
    functions with ``try`` or ``with`` have an exception table.
    """
    if not _has_handlers(code):
        return []
    node, text = function_node(code)
    rows = [
        _row(code, kind, getattr(one, "lineno", 0), _header(one, text))
        for one in (own_nodes(node) if node is not None else ())
        if (kind := _SKIPPED.get(type(one).__name__))
    ]
    return rows or [_row(code, "try", code.co_firstlineno, "")]


def recompilation_row(recompiled: Recompiled) -> RecompilationRow:
    """Return the row of a recompilation, with the first line that reads the changed value."""
    code, missed = recompiled
    line = _reading_line(code, missed.cause)
    spot = Spot(code, _offset_at(code, line), "")
    return RecompilationRow(code.co_filename, line, missed, _name(code), (spot,))


def _rows_of(broken: Broken) -> Iterator[BreakRow]:
    spots = _users(broken.spots)
    if not spots:
        return
    kind, line, cause = cause_of(spots[0], broken.reason, broken.said)
    if spots[0] is not broken.spots[0]:  # in a function of a library that the line calls
        kind = _LIBRARIES.get(_library_of(broken.spots[0].code.co_filename), kind)
    if kind == "builtin" and _READ.search(cause):  # a library has replaced Tensor.numpy
        kind = "tensor-value"
    if line != source_at(*spots[0][:2]).line:
        spots[0] = spots[0]._replace(offset=_offset_at(spots[0].code, line))
    eager = broken.eager
    if eager is None and _has_handlers(spots[0].code):
        eager = spots[0].code  # SOT does not translate this code by itself
    function = "" if eager is None else _name(eager)
    said = broken.said.partition("\n")[0][:_LONGEST_SAID]
    yield BreakRow(kind, spots[0].code.co_filename, line, cause, said, function, tuple(spots))
    for loop in broken.loops:
        at = cause_of(loop, "", "during FOR_ITER")
        yield BreakRow("for", loop.code.co_filename, at.line, at.text, said, function, (loop,))


def _users(spots: list[Spot]) -> list[Spot]:
    """Return the spots from the user's innermost function outwards.

    If none is in the user's code, begin at the innermost one outside of Paddle, NumPy and Python,
    such as a library's model. If all are in Python's library or Jupyter, return nothing: their code
    runs eagerly because of an earlier break.
    """
    files = [spot.code.co_filename for spot in spots]
    users = [at for at, file in enumerate(files) if kind_of(file, paddle_folder()) == USER]
    others = [at for at, file in enumerate(files) if not _library_of(file)]
    is_model = any(_library_of(file) != "python" for file in files)
    return spots[[*users, *others, 0][0] :] if is_model else []


def paddle_folder() -> str:
    """Return Paddle's folder, with a separator at the end."""
    return os.path.join(os.path.dirname(sys.modules["paddle"].__file__ or ""), "")


@cache
def _library_of(file: str) -> str:
    for name in ("paddle", "numpy"):
        folder = os.path.dirname(sys.modules[name].__file__ or "")
        if file.startswith(os.path.join(folder, "")):
            return name
    paths = sysconfig.get_paths()
    packages = tuple(os.path.join(paths[name], "") for name in ("purelib", "platlib"))
    if file.startswith(packages):
        package = Path(file).relative_to(next(filter(file.startswith, packages))).parts[0]
        return "python" if package in ("IPython", "ipykernel") else ""
    return "python" if file.startswith(("<frozen", os.path.join(paths["stdlib"], ""))) else ""


def _are_one(one: BreakRow, other: BreakRow) -> bool:
    is_same_place = (one.kind, one.file, one.line) == (other.kind, other.file, other.line)
    return is_same_place and (one.cause in other.cause or other.cause in one.cause)


def _has_handlers(code: CodeType) -> bool:
    table: bytes = getattr(code, "co_exceptiontable", b"")
    return bool(table)


def _row(code: CodeType, kind: str, line: int, cause: str) -> BreakRow:
    spot = Spot(code, _offset_at(code, line), "")
    return BreakRow(kind, code.co_filename, line, cause, "", _name(code), (spot,))


def _offset_at(code: CodeType, line: int) -> int:
    return next((start for start, _, at in code.co_lines() if at == line), 0)


def _header(node: ast.AST, text: str) -> str:
    source = Source(0, [], text)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        items = [(one.context_expr, one.optional_vars) for one in node.items]
        written = [
            source.written(value) + (f" as {source.written(name)}" if name else "")
            for value, name in items
        ]
        return f"with {', '.join(written)}"
    return "try"


def _name(code: CodeType) -> str:
    return str(getattr(code, "co_qualname", code.co_name)).rpartition("<locals>.")[2]


def _reading_line(code: CodeType, cause: str) -> int:
    node, _ = function_node(code)
    if node is not None:
        nodes = [one for one in own_nodes(node) if isinstance(one, ast.expr)]
        for wanted in _prefixes(cause):
            for one in nodes:
                if ast.unparse(one) == wanted:
                    return one.lineno
    return code.co_firstlineno


def _prefixes(cause: str) -> Iterator[str]:
    """Yield an expression and the shorter expressions in it: ``net.fc.training``, ``net.fc``."""
    yield cause
    path = re.search(r"(?!len\b)[A-Za-z_][\w.]*", cause)
    parts = path[0].split(".") if path else []
    for count in range(len(parts), 0, -1):
        yield ".".join(parts[:count])
