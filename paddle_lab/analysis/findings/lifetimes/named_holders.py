"""Finds objects that hold tensors when a trace ends, and the lines that stored the tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.finding import Place
from paddle_lab.analysis.source.stacks import Frame, stack_of
from paddle_lab.analysis.source.statements import statement_at
from paddle_lab.trace.trees import Rows, rows_by
from paddle_lab.words import Text

_ITEM = re.compile(r"\[[^\[\]]*\]$")
_PUTS = frozenset(("append", "appendleft", "add", "insert", "extend", "setdefault", "update"))


class NamedHolders:
    """The names that lead to tensors, for one record."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def _holders(self) -> Rows:
        table = self._facts.record.tensor_holders
        return rows_by(table["tensor"], table["name"], len(self._facts.record.tensors))

    def _names(self, tensor: int) -> list[str]:
        return list(map(self._facts.record.text, self._holders(tensor)))

    def container(self, tensors: Sequence[int]) -> str:
        """Return the expression of one object that holds all the tensors, such as ``log['loss']``.

        Return ``""`` if there is no such object, or no name leads to it.
        """
        first, *others = map(self._names, tensors)
        if others:
            first, *others = [[_ITEM.sub("", one) for one in names] for names in (first, *others)]
        return next((one for one in first if all(one in names for names in others)), "")

    def is_variable(self, tensors: Sequence[int]) -> bool:
        """Tell whether a variable holds the tensors, not an attribute of an object or a call."""
        return self.container(tensors).partition("[")[0].isidentifier()

    def said(self, tensors: Sequence[int], message: Text | str) -> Text | str:
        """Add a sentence to a message: what holds the tensors, and the line that stored them."""
        holder = self.container(tensors)
        if not holder:
            return message
        written, place = self._put(self._facts.producer(tensors[0]), holder)
        if place is None:
            return Text("findings.held.by", said=message, holder=holder, n=len(tensors))
        return Text(
            "findings.held.by_line", said=message, holder=written, n=len(tensors), place=place
        )

    def _put(self, op: int, holder: str) -> tuple[str, Place | None]:
        """Return the source text of a holder, and the line that stores objects in it.

        The line is None unless exactly one line does so, in the files and cells of the op's stack.
        """
        wanted = holder.partition(" in ")[0]
        found = {
            place: written
            for text, frame in self._sources(op)
            for written, line, column in _puts(text)
            if _last_name(written) == _last_name(wanted)
            for place in [_place(frame, text, line, column)]
        }
        if len(found) != 1:
            return holder, None
        ((place, written),) = found.items()
        return written, place

    def _sources(self, op: int) -> Iterator[tuple[str, Frame]]:
        """Yield the text of each file and cell in an op's stack, with one of its frames."""
        record, met = self._facts.record, set[tuple[str, int | None]]()
        sources = record.sources
        for frame in stack_of(record, self._facts.stack(op)) if op >= 0 else ():
            if frame.kind == "user" and (frame.file, frame.cell) not in met:
                met.add((frame.file, frame.cell))
                cell = -1 if frame.cell is None else frame.cell
                for row in np.flatnonzero((sources["cell"] == cell) & (sources["first_line"] == 1)):
                    if record.text(int(sources["file"][row])) == frame.file:
                        yield record.text(int(sources["text"][row])), frame


def _place(frame: Frame, text: str, line: int, column: int) -> Place:
    lines = text.splitlines()
    code = statement_at(lines[line - 1], column).strip() if line <= len(lines) else ""
    return Place(frame.file, line, frame.cell, code, frame.where_of(line))


@lru_cache(maxsize=8)
def _puts(text: str) -> tuple[tuple[str, int, int], ...]:
    """Return the targets of assignments in a text: source text, line and column of each."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):  # such as a cell with magics
        return ()
    holders: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _PUTS:
                holders.append(node.func.value)
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            # An assigned literal, such as an empty list, is a new container without tensors.
            if not isinstance(node.value, (ast.List, ast.Dict, ast.Constant, type(None))):
                holders += [one.value if isinstance(one, ast.Subscript) else one for one in targets]
    return tuple((ast.unparse(holder), holder.lineno, holder.col_offset) for holder in holders)


def _last_name(written: str) -> str:
    """Return the last name of a holder: ``seen`` for both ``self.seen`` and ``net.seen``."""
    return re.sub(r"\(.*\)$", "", written).rpartition(".")[2].replace('"', "'")
