"""Finds the expression and the statement that an instruction belongs to in the source."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

import numpy as np

from paddle_lab.capture.stacks.code_positions import NO_COLUMN, positions_of
from paddle_lab.capture.stacks.edited_files import source_of

_LONGEST = 100
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Source(NamedTuple):
    """The source text and syntax nodes of an instruction."""

    line: int
    nodes: list[ast.AST]
    """The nodes around the instruction in its function, innermost first; empty if unknown."""
    text: str
    """The file's text."""

    def written(self, node: ast.AST | None) -> str:
        """Return a node as the user wrote it, on one line."""
        text = "" if node is None else ast.get_source_segment(self.text, node) or ""
        text = " ".join(text.split())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

    def test(self) -> ast.AST | None:
        """Return the node whose condition contains the instruction."""
        inner: ast.AST | None = None
        for node in self.nodes:
            tests = getattr(node, "ifs", [getattr(node, "test", None)])
            # Python gives some conditions the position of their whole statement.
            if any(test is not None and inner in (None, test) for test in tests):
                return node
            inner = node
        return next((node for node in self.nodes if isinstance(node, ast.BoolOp)), None)

    def loop(self) -> ast.For | None:
        """Return the loop whose iterable contains the instruction."""
        for inner, node in zip(self.nodes, self.nodes[1:], strict=False):
            if isinstance(node, ast.For) and inner is node.iter:
                return node
        return None


def source_at(code: CodeType, offset: int) -> Source:
    """Return the source text and syntax nodes of an instruction."""
    told = positions_of(code, np.array([offset]))
    line, end_line, column, end_column = (int(one[0]) for one in told)
    text, tree = _parsed(_lines_of(code))
    if column == NO_COLUMN or tree is None:
        return Source(line, [], text)
    begin, end = (line, column), (end_line, end_column)
    nodes = list(_around(tree, begin, end))[::-1]
    depth = next((at for at, node in enumerate(nodes) if isinstance(node, _SCOPES)), len(nodes))
    return Source(line, nodes[:depth], text)


def function_node(code: CodeType) -> tuple[ast.AST | None, str]:
    """Return the node of a function and the text of its file."""
    text, tree = _parsed(_lines_of(code))
    _, at, lines = source_of(code)
    first = lines.get(at.co_firstlineno, at.co_firstlineno)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, _SCOPES):
            own = [one.lineno for one in (node, *getattr(node, "decorator_list", ()))]
            if min(own) <= first <= node.lineno:
                return node, text
    return None, text


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions inside it, in source order."""
    for node in ast.iter_child_nodes(function):
        yield node
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            yield from own_nodes(node)


def _around(node: ast.AST, begin: tuple[int, int], end: tuple[int, int]) -> Iterator[ast.AST]:
    """Yield the nodes that contain a range, the outermost first."""
    found: ast.AST | None = node
    while found is not None:
        found = next((one for one in ast.iter_child_nodes(found) if _has(one, begin, end)), None)
        if found is not None:
            yield found


def _has(node: ast.AST, begin: tuple[int, int], end: tuple[int, int]) -> bool:
    line = getattr(node, "lineno", None)
    if line is None:  # a comprehension's part has no position of its own
        return any(_has(one, begin, end) for one in ast.iter_child_nodes(node))
    assert isinstance(
        node, (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword, ast.alias)
    )
    last = (node.end_lineno or line, node.end_col_offset or 0)
    return (line, node.col_offset) <= begin and end <= last


def _lines_of(code: CodeType) -> tuple[str, ...]:
    # After source_of(), linecache has the present text.
    return tuple(linecache.getlines(code.co_filename)) if source_of(code)[0] else ()


@lru_cache(maxsize=16)
def _parsed(lines: tuple[str, ...]) -> tuple[str, ast.Module | None]:
    text = "".join(lines)
    try:
        return text, ast.parse(text) if text else None
    except SyntaxError:
        return text, None
