"""Finds which kind of code broke a graph, and which expression caused the break."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from paddle_lab.capture.breaks.sources import Source, function_node, own_nodes, source_at
from paddle_lab.capture.breaks.spots import Spot

_READS_VALUE = (
    r"function: (?:<class '(?:float|int|bool|complex)'>|len|range|(?:list|tuple)\.__getitem__)"
    r".*(?:Tensor|Symbolic)Variable"
)
_COMPARING = re.compile(r"(?:max|min|any|all|sorted)\(")
"""Python's functions that compare tensors, and read the results."""
_NUMPY = re.compile(r"(?:np|numpy)\.")
_OTHER_CALL = re.compile(r"function: (?!(?:<class ')?(?:range|iter|enumerate|zip|reversed)\b)")
"""SOT's words about a function that makes no iterator."""

# The class of SOT's reason, a pattern in the text, and the kind. The first match counts.
_RULES: tuple[tuple[str, str, str], ...] = (
    ("", r"in for loop body|during FOR_ITER", "for"),
    ("ControlFlow|Fallback", r"control flow|predicate", "if"),
    ("DynamicShape", "", "dynamic-shape"),
    ("", r"0 size Tensor", "empty-tensor"),
    ("Builtin", r"function: print\b", "print"),
    ("", r"\bNumPy|ndarray|numpy\.|RandomState|Generator\.", "numpy"),
    ("NumPy", "", "numpy"),
    ("Random", "", "random"),
    ("", r"[Gg]enerator|[Yy]ield|coroutine|GET_AWAITABLE|GET_AITER|RETURN_GENERATOR", "generator"),
    ("Iterator", "", "iterator"),
    ("", r"iterator", "iterator"),
    ("", r"middle tensor", "tensor-attribute"),
    ("", r"__rmod__|str\.format|function: (?:<class 'str'>|str|format|repr) ", "format"),
    ("", r"Tensor\.(?:register_hook|clear_gradient)", "paddle-api"),
    ("DataDependencyOperation", "", "tensor-value"),
    ("Builtin", r"function: Random\.|random\.", "random"),
    ("Builtin", _READS_VALUE, "tensor-value"),
    ("Builtin", "", "builtin"),
    ("PaddleAPI|ForceBreak|InferMeta|Inconsistent|NullMeta", "", "paddle-api"),
    ("Psdb", "", "requested"),
    ("", r"Fallback by psdb", "requested"),
    ("", r"[Ff]ormat", "format"),
    ("", r"IMPORT_", "import"),
    ("", r"BEFORE_(?:ASYNC_)?WITH|SETUP_WITH", "with"),
    ("", r"RAISE_VARARGS|ASSERTION_ERROR|non-Exception", "raise"),
    ("", r"exception|PUSH_EXC|SETUP_FINALLY|block stack|except", "try"),
    ("", r"builtin function `locals`", "builtin"),
    ("", r"opcode: \w+ is not supported", "instruction"),
)  # fmt: skip


class Cause(NamedTuple):
    """What broke a graph."""

    kind: str
    """A key in the group ``breaks.advice`` of the words."""
    line: int
    text: str
    """The expression; empty if there is no source."""


def cause_of(spot: Spot, reason: str, said: str) -> Cause:
    """Return the cause of a break.

    Parameters
    ----------
    reason
        The class of SOT's reason, or of SOT's error; empty if the break is at a condition.
    said
        The text of the error.
    """
    source = source_at(*spot[:2])
    kind = _kind_of(spot, reason, said, source)
    if kind in ("if", "while", "assert", "and-or"):
        test = source.test()
        written = source.written(getattr(test, "test", None) or test) or _innermost(source)
        line = test.lineno if isinstance(test, ast.stmt) else source.line
        return Cause(kind, line, written)
    if kind == "for":
        loop = _loop(source)
        line = source.line if loop is None else loop.lineno
        return Cause(kind, line, _header(source, loop))
    if spot.operation == "RETURN_GENERATOR":
        return _first_yield(spot)
    node = _statement(source) if kind == "with" else None
    return Cause(kind, source.line, source.written(node).partition(": ")[0] or _innermost(source))


def _kind_of(spot: Spot, reason: str, said: str, source: Source) -> str:
    if "JUMP" in spot.operation or not (reason or said):
        return _condition_kind(spot, source.test())
    kind = next(
        (kind for name, text, kind in _RULES if re.search(name, reason) and re.search(text, said)),
        "operation",
    )
    if spot.operation in ("RAISE_VARARGS", "LOAD_ASSERTION_ERROR"):
        return "raise"
    if "get_py_value" in said and spot.operation.startswith(("CALL", "PRECALL")):
        is_comparing = _COMPARING.match(_innermost(source)) is not None
        return "tensor-value" if is_comparing else "builtin"  # the called function needs a value
    if kind == "if":
        return _condition_kind(spot, source.test())
    if kind == "builtin" and _NUMPY.match(_innermost(source)):
        return "numpy"
    # This is a loop over something whose length SOT does not know, such as range(tensor).
    is_loop = source.loop() is not None and ("Builtin" in reason or "Iterator" in reason)
    is_loop = is_loop and not _OTHER_CALL.search(said)
    return "for" if is_loop or spot.operation == "FOR_ITER" else kind


def _condition_kind(spot: Spot, test: ast.AST | None) -> str:
    if isinstance(test, ast.While):
        return "while"
    if isinstance(test, ast.Assert):
        return "assert"
    is_operator = isinstance(test, ast.BoolOp) or (test is None and "OR_POP" in spot.operation)
    return "and-or" if is_operator else "if"


def _first_yield(spot: Spot) -> Cause:
    node, text = function_node(spot.code)
    kinds = (ast.Yield, ast.YieldFrom, ast.Await)
    yields = [one for one in own_nodes(node) if isinstance(one, kinds)] if node else []
    if not yields:
        return Cause("generator", spot.code.co_firstlineno, "")
    return Cause("generator", yields[0].lineno, Source(0, [], text).written(yields[0]))


def _loop(source: Source) -> ast.For | None:
    return next((node for node in source.nodes if isinstance(node, ast.For)), None)


def _header(source: Source, loop: Any) -> str:
    if loop is None:
        return _innermost(source)
    return f"for {source.written(loop.target)} in {source.written(loop.iter)}"


def _statement(source: Source) -> ast.AST | None:
    return next((node for node in source.nodes if isinstance(node, ast.With)), None)


def _innermost(source: Source) -> str:
    return source.written(source.nodes[0] if source.nodes else None)
