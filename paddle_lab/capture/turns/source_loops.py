"""Finds the loops of a source file, their bodies, and how to distinguish their iterations.

A loop is a ``for`` or ``while`` statement, or a ``for`` in a comprehension. Its body is a part of
the text, and Python provides the source position of each instruction.
"""

from __future__ import annotations

import ast
import sys
from typing import Final

from paddle_lab.capture.turns.counters import (
    FUNCTIONS,
    Counter,
    assigned,
    called,
    for_counter,
    iterated,
    starts_of_whiles,
    while_counter,
)
from paddle_lab.capture.turns.loops import Loop, Span

_LONGEST_WORDS: Final = 48
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Since Python 3.12 a comprehension belongs to the surrounding code object (PEP 709).
_WITH_OWN_CODE: Final = _COMPREHENSIONS if sys.version_info < (3, 12) else (ast.GeneratorExp,)
_CODE_NAMES: Final[dict[type[ast.AST], str]] = {
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_INSIDE: Final = ("body", "elt", "key", "value", "generators")
"""Fields of a function or comprehension that run in a separate code object."""
_REPEATING: Final = frozenset(
    (
        *("all", "any", "dict", "filter", "list", "map", "max", "min", "next"),
        *("reduce", "set", "sorted", "sum", "tuple", "zip"),
    )
)
"""Functions that may call their argument several times."""
_REPEATING_METHODS: Final = frozenset(("filter", "map", "reduce"))
"""Methods of modules and objects that do so. A method ``sum`` is usually a tensor's."""


class SourceFile:
    """The loops and functions of a file or cell.

    Parameters
    ----------
    text
        The source that Python compiled.

    Raises
    ------
    SyntaxError
        If the text is not Python.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.loops: dict[ast.AST | None, list[Loop]] = {}
        """The loops in each node's code object; None is the module. Outer loops come first."""
        self.owners: list[tuple[str, Span, ast.AST]] = []
        """The nodes that have a code object of their own, and the name of this code object."""
        self.statement_lines: dict[int, int] = {}
        """Maps each line to the first line of the innermost statement on it."""
        self.withs: list[tuple[Span, Span]] = []
        """``with`` statements and their bodies."""
        self.repeating: set[Span] = set()
        """Calls of functions that call others several times."""
        self._around: dict[ast.AST, tuple[str, ...]] = {}
        self._starts: dict[ast.AST, dict[str, int]] = {}
        # Do not recurse, because a long chain of operators is a deep tree.
        waiting: list[tuple[ast.AST, ast.AST | None]] = [(ast.parse(text), None)]
        while waiting:
            node, owner = waiting.pop()
            inside = self._owner(node, owner)
            self._note(node, inside)
            for name, value in ast.iter_fields(node):
                children = value if isinstance(value, list) else [value]
                self._starts.update(starts_of_whiles(children))
                # Decorators and defaults run in the surrounding code, outside of the function.
                within = inside if name in _INSIDE else owner
                waiting.extend((child, within) for child in children if isinstance(child, ast.AST))

    def _owner(self, node: ast.AST, owner: ast.AST | None) -> ast.AST | None:
        """Return the function, class, lambda or comprehension that runs ``node``'s body."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
        elif isinstance(node, (ast.Lambda, *_WITH_OWN_CODE)):
            name = _CODE_NAMES[type(node)]
        else:
            return owner
        self.owners.append((name, _span(node), node))
        return node

    def _note(self, node: ast.AST, owner: ast.AST | None) -> None:
        loops: list[Loop] = []
        if isinstance(node, ast.stmt):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            self.statement_lines.update(dict.fromkeys(lines, node.lineno))
        if isinstance(node, _COMPREHENSIONS):
            loops = self._comprehension(node)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            loops = [self._for(node)]
        elif isinstance(node, ast.While):
            loops = [self._while(node)]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.withs.append((_span(node), _span_of_all(node.body)))
        elif isinstance(node, ast.Call) and called(node.func) in (
            _REPEATING if isinstance(node.func, ast.Name) else _REPEATING_METHODS
        ):
            self.repeating.add(_span(node))
        if loops:
            self.loops.setdefault(owner, []).extend(loops)
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                loops[0].around = self._around.get(node, ())
                if not loops[0].names:
                    self._note_around(node.body)

    def _note_around(self, body: list[ast.stmt]) -> None:
        """Store, for each loop in a body, the names that the body assigns outside of the loop."""
        # A constant is the same object in each iteration of the outer loop.
        changing = [
            one
            for one in body
            if not (isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant))
        ]
        waiting: list[ast.AST] = [*body]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                outside = assigned(changing, without=node) - assigned([node])
                self._around[node] = tuple(sorted(outside)[:3])
            elif not isinstance(node, FUNCTIONS):
                waiting.extend(ast.iter_child_nodes(node))

    def _for(self, node: ast.For | ast.AsyncFor) -> Loop:
        loop = self._over(node.target, node.iter, _span(node), node.lineno, assigned(node.body))
        loop.bodies = [_span_of_all(node.body)]
        return loop

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> list[Loop]:
        inner: list[ast.AST] = (
            [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        )
        found: list[Loop] = []
        for part in reversed(node.generators):
            inner += part.ifs
            loop = self._over(
                part.target, part.iter, _span(node), part.target.lineno, assigned(inner)
            )
            loop.bodies = list(map(_span, inner))
            found.insert(0, loop)
            inner += [part.iter, part.target]
        return found

    def _while(self, node: ast.While) -> Loop:
        test = _span(node.test)
        counter = while_counter(node, self._starts[node])
        names = [counter.name] if counter else []
        words = _short(f"while {self._text(test)}")
        asked = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
        shown = [name for name in names if name in asked]
        loop = _loop(words, node.lineno, _span(node), test, names, shown, counter)
        loop.bodies, loop.is_while = [_span_of_all(node.body)], True
        return loop

    def _over(
        self, target: ast.expr, values: ast.expr, whole: Span, line: int, changed: set[str]
    ) -> Loop:
        """Return the loop over ``values`` whose body assigns the names in ``changed``."""
        names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        kept = [name for name in names if name not in changed]
        counter = for_counter(target, values)
        if counter is not None and counter.name not in kept:
            counter = None
        words = ", ".join(names[:3])
        source = iterated(values)
        is_enumerated = isinstance(source, ast.Call) and called(source.func) == "enumerate"
        if is_enumerated and names and isinstance(target, ast.Tuple):
            words = names[0]
        if not words.strip("_, ") or not isinstance(target, (ast.Name, ast.Tuple)):
            words = _short(f"for {self._text((*_span(target)[:2], *_span(values)[2:]))}")
        # A name keeps its position; one that is empty or not shown has no value.
        shown = [name if name in kept and name.strip("_") else "" for name in names]
        shown = shown[:1] if is_enumerated and words == names[0] else shown
        return _loop(words, line, whole, _span(values), kept, shown, counter)

    def _text(self, span: Span) -> str:
        line, column, end_line, end_column = span
        lines = [text.encode() for text in self._lines[line - 1 : end_line]]
        if not lines:
            return ""
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return " ".join(b" ".join(lines).decode(errors="replace").split())


def _loop(
    words: str,
    line: int,
    whole: Span,
    header: Span,
    names: list[str],
    shown: list[str],
    counter: Counter | None,
) -> Loop:
    loop = Loop(words, line, whole, header, [], names=tuple(names[:3]), shown=tuple(shown[:3]))
    if counter is not None:
        loop.names = (counter.name,)
        loop.counts, loop.start, loop.step = bool(counter.step), counter.start, counter.step or 0
        loop.step_end = counter.end
    return loop


def _span(node: ast.AST) -> Span:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _span_of_all(nodes: list[ast.stmt]) -> Span:
    return (*_span(nodes[0])[:2], *_span(nodes[-1])[2:])


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_WORDS else text[: _LONGEST_WORDS - 1].rstrip() + "…"
