"""Finds the text and the lines of code whose file was edited after Python compiled it.

``linecache`` keeps the text that it read first, also if the module was imported again. A module
that was not imported again still runs the code of an earlier text. And IPython's ``%autoreload``
keeps unchanged functions, whose lines may have moved, and compiles each changed function alone,
from a text of its own whose first line has the number 1.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Final, TypeAlias

import psutil

Source: TypeAlias = tuple[str, CodeType, dict[int, int]]

_PROCESS_BEGAN_S: Final = psutil.Process().create_time()
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def source_of(code: CodeType) -> Source:
    """Return the source of a code object, and let ``linecache`` read an edited file again.

    Returns
    -------
    text
        The text of the file or cell, or of one function; empty if it is unknown.
    code
        The code object at the lines that it has in the text.
    lines
        The file's line of each line of the text; empty if they are the same.
    """
    file = code.co_filename
    try:
        stat = Path(file).stat()  # a file that replaced this one may have an old st_mtime
        is_edited = max(stat.st_mtime, stat.st_ctime) >= _PROCESS_BEGAN_S
    except OSError:  # a cell, or code that was never in a file
        is_edited = False
    if not is_edited:
        return _text(file), code, {}
    known = linecache.cache.get(file)
    linecache.checkcache(file)
    found = _found(code, _text(file), file)
    if not found[0] and known is not None:
        linecache.cache[file] = known
        found = _found(code, _text(file), file)
    return found


def _text(file: str) -> str:
    return "".join(linecache.getlines(file))


@lru_cache(maxsize=512)
def _found(code: CodeType, text: str, file: str) -> Source:
    bare = _unplaced(code)
    try:
        for made, function in _texts(text, code.co_name):
            named = [one for one in _codes_of(made, file) if one.co_name == code.co_name]
            for other in sorted(named, key=lambda one: _distance(one, code)):
                if _unplaced(other) == bare:
                    return made, other, _lines(made, function)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass  # the file is being edited
    return "", code, {}


def _texts(text: str, name: str) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield the texts that may have been compiled, and the function that each was made from."""
    yield text, None
    for alone, node in _functions(text):
        if name in alone or not name.isidentifier():  # such as "<lambda>"
            yield alone, node
            yield f"class __autoreload_class__:\n{textwrap.indent(alone, '    ')}", node


@lru_cache(maxsize=16)
def _functions(text: str) -> list[tuple[str, ast.AST]]:
    found = (node for node in ast.walk(ast.parse(text)) if isinstance(node, _FUNCTIONS))
    return [(ast.unparse(node), node) for node in found]


@lru_cache(maxsize=64)
def _codes_of(text: str, file: str) -> list[CodeType]:
    found: list[CodeType] = []
    # A function whose "nonlocal" names another's variable cannot be compiled alone.
    with suppress(SyntaxError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warned when it compiled the file
        found.append(compile(text, file, "exec", dont_inherit=True))
    for code in found:
        found += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def _distance(one: CodeType, other: CodeType) -> tuple[bool, int]:
    """Return a key that is small for the same function, because two classes may have equal code."""
    names = [getattr(code, "co_qualname", "") for code in (one, other)]
    return names[0] != names[1], abs(one.co_firstlineno - other.co_firstlineno)


def _unplaced(code: CodeType) -> CodeType:
    """Return a code object that is the same after its text moved or was laid out anew."""
    constants = (_unplaced(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_flags=0, co_consts=tuple(constants))


def _lines(text: str, function: ast.AST | None) -> dict[int, int]:
    lines: dict[int, int] = {}
    if function is not None:
        made = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, _FUNCTIONS))
        for ours, theirs in zip(ast.walk(made), ast.walk(function), strict=False):
            if isinstance(ours, ast.stmt | ast.expr) and isinstance(theirs, type(ours)):
                lines.setdefault(ours.lineno, theirs.lineno)
    return lines
