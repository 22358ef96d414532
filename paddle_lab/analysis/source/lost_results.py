"""Finds the expressions of a text whose result nothing reads, from the text alone."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache

_SEES_NAMES = frozenset(("locals", "vars", "eval", "exec", "globals", "dir"))
_LOOPS = (ast.For, ast.While)
_OPENINGS = (ast.Global, ast.Nonlocal, ast.ClassDef)


@lru_cache(maxsize=8)
def lost_results(text: str) -> dict[tuple[int | None, ...], str]:
    """Return the name that gets an expression's result, by line, column, last line, end column.

    The name is local to a function that never reads it, or ``""`` if there is none. At the top
    level, another cell may read a name, and the value of the last line is shown.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[tuple[int | None, ...], str] = {}
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, *_LOOPS)):
            continue
        inside = list(ast.walk(scope))
        names = Counter(one.id for one in inside if isinstance(one, ast.Name))
        is_open = isinstance(scope, _LOOPS) or not _SEES_NAMES.isdisjoint(names)
        is_open |= any(isinstance(one, _OPENINGS) for one in inside)
        for one in inside:
            match one:
                case ast.Expr(value=ast.Call() as got):
                    name = ""
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.BinOp() as got):
                    if is_open or names[name] > 1 or name.startswith("_"):
                        continue
                case _:
                    continue
            found[got.lineno, got.col_offset, got.end_lineno, got.end_col_offset] = name
    return found
