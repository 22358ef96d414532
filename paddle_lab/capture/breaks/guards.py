"""Finds the guard that failed, if no compiled version of a function fits a call.

SOT compiles a function for the values that it has seen, and guards check these values. A guard's
text is an expression over the frame of the call, such as ``frame.f_locals['n'] == 1``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

_VARIABLE = re.compile(r"frame\.f_(?:locals|globals|builtins)\['(\w+)'\]")
_IN_LAYER = re.compile(r"\._(?:sub_layers|parameters|buffers)\['(\w+)'\]")
_LONGEST = 80
_MOST_DIGITS = 12


class Missed(NamedTuple):
    """A value that does not fit the compiled versions."""

    cause: str
    """The expression in the user's words: ``n``, ``x.shape[0]``, ``self.training``."""
    before: str
    """The value for which the last version was compiled; empty if that is not a simple value."""
    now: str
    """The value of this call; empty if unknown."""


def missed_guard(guards: Sequence[Any], frame: Any) -> Missed | None:
    """Return the first condition of the last guard that a frame does not fulfil.

    Parameters
    ----------
    guards
        Guards of a function's versions.
    frame
        The frame of a call.

    Returns
    -------
    Missed or None
        ``None`` if there is no version, or if one fits.
    """
    missed = None
    for guard in guards:
        failed = _failed(guard, frame)
        if not failed:
            return None
        missed = _shown(failed)
    return missed


def changed_guard(before: Any, after: Any) -> Missed | None:
    """Return the first value that differs between the guards of two versions of a function."""
    known = dict(_equalities(after))
    pairs = [(left, right) for left, right in _equalities(before) if known.get(left) != right]
    if not pairs:
        return None
    # If the later version has no guard for a value, that value may be anything there. If a type has
    # changed, the comparisons with values of that type have changed too.
    pairs.sort(key=lambda pair: (pair[0].startswith("id("), pair[0] not in known))
    return _shown(
        [
            Missed(_readable(left), _value(right), _value(known.get(left, "")))
            for left, right in pairs
        ]
    )


def changed_inputs(names: Sequence[str], before: Any, after: Any) -> Missed:
    """Return the first difference between the inputs of two programs that were compiled as a whole.

    If there is none, one program was compiled in training mode and the other in evaluation mode.
    """
    for name, old, new in zip(names, before.inputs, after.inputs, strict=False):
        for part in ("shape", "dtype", "stop_gradient"):
            pair = getattr(old, part, None), getattr(new, part, None)
            if pair[0] != pair[1]:
                return Missed(f"{name}.{part}", *map(_plain, pair))
        if not hasattr(new, "shape") and repr(old) != repr(new):
            return Missed(name, _plain(old), _plain(new))
    return Missed("self.training", "", "")


def _plain(value: Any) -> str:
    text = repr(list(value) if type(value).__name__ == "Size" else value)
    return text if len(text) <= _LONGEST and " at 0x" not in text else ""


def _shown(missed: list[Missed]) -> Missed:
    """Return the first value. Of ``training`` flags of layers, return the outermost layer's."""
    flags = [one for one in missed if one.cause.endswith(".training")]
    return min(flags, key=lambda one: len(one.cause)) if missed[0] in flags else missed[0]


def _failed(guard: Any, frame: Any) -> list[Missed]:
    names = guard.__globals__
    failed: list[Missed] = []
    unknown: list[Missed] = []
    for node in _conditions(_text(guard)):
        result = _evaluated(node, names, frame)
        if result is True:
            continue
        left, right = _sides(node)
        now = _evaluated(left, names, frame)
        is_plain = isinstance(now, (bool, int, float, str, type(None)))
        missed = Missed(
            _readable(ast.unparse(left)),
            _value(right),
            repr(now) if is_plain and _value(right) else "",
        )
        # Where a list is shorter, the last items do not exist.
        (unknown if result is _UNKNOWN else failed).append(missed)
    failed += unknown
    return failed if failed or guard(frame) is True else [Missed("", "", "")]


def _equalities(guard: Any) -> Iterator[tuple[str, str]]:
    for node in _conditions(_text(guard)):
        left, right = _sides(node)
        if right and not right.startswith("__"):
            yield ast.unparse(left), right


def _text(guard: Any) -> str:
    return str(getattr(guard, "inlined_expr", guard.expr))


@lru_cache(maxsize=64)
def _conditions(text: str) -> list[ast.expr]:
    body = ast.parse(text, mode="eval").body
    assert isinstance(body, ast.Lambda)
    return body.body.values if isinstance(body.body, ast.BoolOp) else [body.body]


def _sides(node: ast.expr) -> tuple[ast.expr, str]:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
        return node.left, ast.unparse(node.comparators[0])
    return node, ""


def _evaluated(node: ast.expr, names: dict[str, Any], frame: Any) -> Any:
    with suppress(Exception):
        code = compile(ast.Expression(node), "<guard>", "eval")
        return eval(code, names, {"frame": frame})  # noqa: S307  (SOT has made it)
    return _UNKNOWN


_UNKNOWN = object()


def _readable(text: str) -> str:
    text = _IN_LAYER.sub(r".\1", _VARIABLE.sub(r"\1", text))
    text = re.sub(r"^id\((.*)\)$", r"\1", text).removesuffix(".__code__")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _value(text: str) -> str:
    # An object's id is not a value worth showing.
    if text.isdigit() and len(text) > _MOST_DIGITS:
        return ""
    try:
        return repr(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        return ""
