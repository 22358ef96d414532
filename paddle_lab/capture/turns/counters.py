"""Finds the variable that counts a loop's iterations, and the names that statements assign."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_PROGRESS_BARS: Final = ("tqdm", "track", "progress_bar")


class Counter(NamedTuple):
    """A variable that counts a loop's iterations."""

    name: str
    start: int | None
    """The counter's value in the first iteration; None if the source does not show the value."""
    step: int | None
    end: tuple[int, int] | None = None
    """For ``while``: the position after the statement that adds the step."""


def called(function: ast.expr) -> str:
    """Return the name of a called function or method, without the object of the method."""
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def iterated(expression: ast.expr) -> ast.expr:
    """Return the iterable of a ``for``, without a progress bar around it, such as ``tqdm``."""
    while isinstance(expression, ast.Call) and expression.args:
        if called(expression.func) not in _PROGRESS_BARS:
            break
        expression = expression.args[0]
    return expression


def assigned(statements: Iterable[ast.AST], *, without: ast.AST | None = None) -> set[str]:
    """Return the names that statements assign, but not those inside nested functions."""
    found: set[str] = set()
    for node in _inside(statements, (*FUNCTIONS,), without=without):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, *FUNCTIONS)):
            found.add(getattr(node, "name", None) or "")
    return found - {""}


def for_counter(target: ast.expr, expression: ast.expr) -> Counter | None:
    """Return the variable that counts the iterations of ``range`` or ``enumerate``."""
    call = iterated(expression)
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
        given = [*named, *arguments[1:]]
        start = _integer(given[0]) if given else 0
        return Counter(first.id, start, 1) if isinstance(first, ast.Name) else None
    return None


def while_counter(node: ast.While, starts: dict[str, int]) -> Counter | None:
    """Return a variable to which each iteration adds a number exactly once.

    A variable in the loop's condition is preferred.

    Parameters
    ----------
    starts
        The numbers that are assigned to variables before the loop.
    """
    asked = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
    others: list[Counter] = []
    for position, statement in enumerate(node.body):
        if not (
            isinstance(statement, ast.AugAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(statement.op, (ast.Add, ast.Sub))
        ):
            continue
        name, step = statement.target.id, _integer(statement.value)
        before, after = node.body[:position], node.body[position + 1 :]
        if not step or name in assigned(before + after) or _can_go_on(before):
            continue
        step = -step if isinstance(statement.op, ast.Sub) else step
        # Before this statement the value belongs to the current iteration, after it to the next
        # one.
        end = statement.end_lineno or 0, statement.end_col_offset or 0
        counter = Counter(name, starts.get(name), step, end)
        if name in asked:
            return counter
        others.append(counter)
    return others[0] if others else None


def starts_of_whiles(statements: list[ast.stmt]) -> Iterator[tuple[ast.While, dict[str, int]]]:
    """Yield each ``while``, and the numbers that are assigned to variables before it."""
    known: dict[str, int] = {}
    if not any(isinstance(statement, ast.While) for statement in statements):
        return
    for statement in statements:
        if isinstance(statement, ast.While):
            yield statement, dict(known)
        for name in assigned([statement]):
            known.pop(name, None)
        if isinstance(statement, ast.Assign):
            value = _integer(statement.value)
            if value is not None:
                targets = (target for target in statement.targets if isinstance(target, ast.Name))
                known.update((target.id, value) for target in targets)


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _can_go_on(statements: Iterable[ast.AST]) -> bool:
    """Tell whether the statements contain a ``continue`` for this loop."""
    closed = (*FUNCTIONS, ast.For, ast.AsyncFor, ast.While)
    return any(isinstance(node, ast.Continue) for node in _inside(statements, closed))


def _inside(
    nodes: Iterable[ast.AST], closed: tuple[type[ast.AST], ...], *, without: ast.AST | None = None
) -> Iterator[ast.AST]:
    """Yield nodes and all nodes inside them, but do not enter nodes of the types ``closed``."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node is without:
            continue
        yield node
        if not isinstance(node, closed):
            waiting.extend(ast.iter_child_nodes(node))
