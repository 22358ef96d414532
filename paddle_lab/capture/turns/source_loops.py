"""The loops of a source file: where their bodies are, and what tells one turn from the next.

A loop is a ``for`` or ``while`` statement, or a ``for`` of a comprehension. Its body is a part of
the text, and Python says for each instruction where in the text it stands.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int, int, int]
"""First line, first column, last line, column after the last. Columns count bytes of UTF-8."""

_LONGEST_WORDS: Final = 48
_PROGRESS_BARS: Final = ("tqdm", "track", "progress_bar")
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# From Python 3.12 on a comprehension is a part of the code around it (PEP 709).
_WITH_OWN_CODE: Final = _COMPREHENSIONS if sys.version_info < (3, 12) else (ast.GeneratorExp,)
_CODE_NAMES: Final[dict[type[ast.AST], str]] = {
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_INSIDE: Final = ("body", "elt", "key", "value", "generators")
"""Fields of a function or comprehension that its own code object runs."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_REPEATING: Final = frozenset(
    (
        *("all", "any", "dict", "filter", "list", "map", "max", "min", "next"),
        *("reduce", "set", "sorted", "sum", "tuple", "zip"),
    )
)
"""Functions that call what they are given several times."""


@dataclass
class Counter:
    """A variable that counts the turns."""

    name: str
    start: int | None
    """Its value in the first turn; None where the source does not tell."""
    step: int | None
    stepped_after: tuple[int, int] | None = None
    """Of ``while``: where the body adds the step. Behind that the value is the next turn's."""


@dataclass
class SourceLoop:
    """One loop.

    Attributes
    ----------
    owner
        The node whose code object the loop is in; None for the module.
    whole, header
        The statement, and what is computed before each turn: a ``while``'s condition.
    bodies
        What each turn runs.
    words
        What a turn is called: ``epoch`` of ``for epoch in range(3)``.
    names
        The target's variables that the body does not assign, so that a change of one is a turn.
    target
        All of the target's variables.
    around
        Variables that the loop around assigns before or after this one: where one changes between
        two turns of this loop, it was left and begun anew.
    """

    owner: ast.AST | None
    whole: Span
    header: Span
    bodies: list[Span]
    words: str
    line: int
    names: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    counter: Counter | None = None
    is_while: bool = False
    around: list[str] = field(default_factory=list)


class SourceFile:
    """The loops and functions of one file or cell.

    Parameters
    ----------
    text
        The source, as Python compiled it.

    Raises
    ------
    SyntaxError
        If it is no Python.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self.loops: list[SourceLoop] = []
        self.owners: list[tuple[str, Span, ast.AST]] = []
        """Nodes that have a code object of their own, with its name."""
        self.statements: list[Span] = []
        self.withs: list[tuple[Span, Span]] = []
        """``with`` statements and their bodies."""
        self._around: dict[ast.AST, list[str]] = {}
        self.repeating: set[Span] = set()
        """Calls of functions that call others several times."""
        # A walk of our own: a long chain of operators is a deep tree.
        waiting: list[tuple[ast.AST, ast.AST | None]] = [(ast.parse(text), None)]
        while waiting:
            node, owner = waiting.pop()
            waiting.extend((child, within) for child, within in self._visit(node, owner))

    def _visit(
        self, node: ast.AST, owner: ast.AST | None
    ) -> Iterator[tuple[ast.AST, ast.AST | None]]:
        inside = self._note_owner(node, owner)
        self._note(node, inside)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                _set_steps(value)
            # A decorator and a default are computed by the code around the function.
            within = inside if name in _INSIDE else owner
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield child, within

    def _note_owner(self, node: ast.AST, owner: ast.AST | None) -> ast.AST | None:
        """Return the node whose code object what is inside a node belongs to."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
        elif isinstance(node, (ast.Lambda, *_WITH_OWN_CODE)):
            name = _CODE_NAMES[type(node)]
        else:
            return owner
        self.owners.append((name, span_of(node), node))
        return node

    def _note(self, node: ast.AST, owner: ast.AST | None) -> None:
        if isinstance(node, ast.stmt):
            self.statements.append(span_of(node))
        if isinstance(node, _COMPREHENSIONS):
            self._add_comprehension(node, owner)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._add_for(node, owner)
        elif isinstance(node, ast.While):
            self._add_while(node, owner)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.withs.append((span_of(node), _span_of_all(node.body)))
        elif isinstance(node, ast.Call) and _called(node.func) in _REPEATING:
            self.repeating.add(span_of(node))

    def _add_for(self, node: ast.For | ast.AsyncFor, owner: ast.AST | None) -> None:
        assigned = _assigned(node.body)
        self.loops.append(
            self._loop(node.target, node.iter, assigned, owner, span_of(node), node.lineno)
        )
        self.loops[-1].bodies = [_span_of_all(node.body)]
        self.loops[-1].around = self._around.get(node, [])
        if not self.loops[-1].names:
            self._note_around(node.body)

    def _note_around(self, body: list[ast.stmt]) -> None:
        """Note for each loop in a body what the body assigns outside of it."""
        waiting: list[ast.AST] = [*body]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                inside = _assigned([node])
                self._around[node] = sorted(_assigned(body, without=node) - inside)[:3]
            elif not isinstance(node, _FUNCTIONS):
                waiting.extend(ast.iter_child_nodes(node))

    def _add_comprehension(
        self,
        node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        owner: ast.AST | None,
    ) -> None:
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inner = [span_of(part) for part in made]
        found: list[SourceLoop] = []
        for generator in reversed(node.generators):
            inner = [*inner, *(span_of(test) for test in generator.ifs)]
            loop = self._loop(
                generator.target,
                generator.iter,
                set(),
                owner,
                span_of(node),
                generator.target.lineno,
            )
            loop.bodies = inner
            found.insert(0, loop)
            inner = [*inner, span_of(generator.iter)]
        self.loops += found

    def _loop(
        self,
        target: ast.expr,
        iterated: ast.expr,
        assigned: set[str],
        owner: ast.AST | None,
        whole: Span,
        line: int,
    ) -> SourceLoop:
        names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        kept = [name for name in names if name not in assigned]
        start_column = target.col_offset
        text = self._text((target.lineno, start_column, *span_of(iterated)[2:]))
        counter = _for_counter(target, iterated)
        if counter is not None and counter.name not in kept:
            counter = None
        words = ", ".join(names[:3])
        source = _iterated(iterated)
        is_enumerated = isinstance(source, ast.Call) and _called(source.func) == "enumerate"
        if is_enumerated and names and isinstance(target, ast.Tuple):
            words = names[0]
        if not words.strip("_, ") or not isinstance(target, (ast.Name, ast.Tuple)):
            words = _short(f"for {text}")
        return SourceLoop(
            owner,
            whole,
            span_of(iterated),
            [],
            words,
            line,
            kept[:3],
            [name for name in names if name.strip("_")][:3],
            counter,
        )

    def _add_while(self, node: ast.While, owner: ast.AST | None) -> None:
        test = span_of(node.test)
        words = _short(f"while {self._text(test)}")
        body = [_span_of_all(node.body)]
        counter = _while_counter(node)
        names = [counter.name] if counter else []
        self.loops.append(
            SourceLoop(
                owner,
                span_of(node),
                test,
                body,
                words,
                node.lineno,
                names,
                names,
                counter,
                is_while=True,
            )
        )
        self.loops[-1].around = self._around.get(node, [])
        if counter is None:
            self._note_around(node.body)

    def _text(self, span: Span) -> str:
        line, column, end_line, end_column = span
        lines = [text.encode() for text in self._lines[line - 1 : end_line]]
        if not lines:
            return ""
        lines[-1] = lines[-1][:end_column]
        lines[0] = lines[0][column:]
        return " ".join(b" ".join(lines).decode(errors="replace").split())


def span_of(node: ast.AST) -> Span:
    """Return where a node stands."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _span_of_all(nodes: list[ast.stmt]) -> Span:
    return (*span_of(nodes[0])[:2], *span_of(nodes[-1])[2:])


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def _iterated(expression: ast.expr) -> ast.expr:
    """Return what is iterated over, inside of a progress bar."""
    while isinstance(expression, ast.Call) and expression.args:
        if _called(expression.func) not in _PROGRESS_BARS:
            break
        expression = expression.args[0]
    return expression


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_WORDS else text[: _LONGEST_WORDS - 1].rstrip() + "…"


def _assigned(statements: Iterable[ast.AST], *, without: ast.AST | None = None) -> set[str]:
    """Return the names that statements assign, without what functions inside them do."""
    found: set[str] = set()
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if node is without:
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        if isinstance(node, _FUNCTIONS):
            if not isinstance(node, ast.Lambda):
                found.add(node.name)
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return found


def _integer(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    is_integer = isinstance(node, ast.Constant) and type(node.value) is int
    return node.value if is_integer else None  # type: ignore[union-attr]


def _for_counter(target: ast.expr, iterated: ast.expr) -> Counter | None:
    """Return the variable that counts the turns of ``range`` and ``enumerate``."""
    call = _iterated(iterated)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    arguments = call.args
    if any(isinstance(argument, ast.Starred) for argument in arguments):
        return None
    if call.func.id in ("range", "trange") and isinstance(target, ast.Name) and arguments:
        start = 0 if len(arguments) == 1 else _integer(arguments[0])
        step = _integer(arguments[2]) if len(arguments) > 2 else 1
        return Counter(target.id, start, step) if step != 0 else None
    if call.func.id == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
        first = target.elts[0]
        named = [keyword.value for keyword in call.keywords if keyword.arg == "start"]
        given = named[0] if named else (arguments[1] if len(arguments) > 1 else None)
        start = 0 if given is None else _integer(given)
        return Counter(first.id, start, 1) if isinstance(first, ast.Name) else None
    return None


def _while_counter(node: ast.While) -> Counter | None:
    """Return the variable of the condition that each turn adds a number to, once and always."""
    asked = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
    for position, statement in enumerate(node.body):
        if not (
            isinstance(statement, ast.AugAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id in asked
            and isinstance(statement.op, (ast.Add, ast.Sub))
        ):
            continue
        name, step = statement.target.id, _integer(statement.value)
        before, others = node.body[:position], node.body[:position] + node.body[position + 1 :]
        if not step or name in _assigned(others) or _can_go_on(before):
            continue
        step = -step if isinstance(statement.op, ast.Sub) else step
        start: int | None = getattr(node, "_starts", {}).get(name)
        # Before the step the value is the turn's own, behind it the next one's.
        return Counter(
            name, start, step, (statement.end_lineno or 0, statement.end_col_offset or 0)
        )
    return None


def _can_go_on(statements: Iterable[ast.AST]) -> bool:
    """Tell whether a ``continue`` of this loop is among statements."""
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Continue):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.For, ast.AsyncFor, ast.While)):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _set_steps(statements: list[ast.AST]) -> None:
    """Note at each ``while`` which numbers the statements right before it assign."""
    known: dict[str, int] = {}
    for statement in statements:
        if isinstance(statement, ast.While):
            statement._starts = dict(known)  # type: ignore[attr-defined]
        value = _integer(statement.value) if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.stmt):
            return
        for name in _assigned([statement]):
            known.pop(name, None)
        if value is not None:
            targets = statement.targets  # type: ignore[attr-defined]
            known.update({target.id: value for target in targets if isinstance(target, ast.Name)})
