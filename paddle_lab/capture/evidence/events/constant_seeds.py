"""Finds the same seed, set again and again, in the code of loaders and data sets.

Worker processes run this code, where no trace sees it. So its instructions are read.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

_GENERATORS = frozenset(("seed", "RandomState", "default_rng", "Random"))
_DRAWS = frozenset(
    ("normal", "randn", "rand", "uniform", "randint", "integers", "standard_normal", "gauss")
)
_BETWEEN = frozenset(("PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP"))


def item_seed(dataset: Any) -> tuple[CodeType, int] | None:
    """Return where ``__getitem__`` seeds noise with the same number for each item."""
    function = getattr(type(dataset), "__getitem__", None)
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    return None if _DRAWS.isdisjoint(names) else constant_seed(function)


def constant_seed(function: Any) -> tuple[CodeType, int] | None:
    """Return a function's code, and the offset at which it sets the same seed in each call."""
    code = getattr(function, "__code__", None)
    if code is None or _GENERATORS.isdisjoint(code.co_names):
        return None
    steps = [one for one in dis.get_instructions(code) if one.opname not in _BETWEEN]
    read = {name for one in steps for name in one.argrepr.split(", ")}
    if code.co_argcount == 1 and code.co_varnames[0] in read:
        return None  # a worker's number
    for step, given, *rest in zip(*(steps[at:] for at in range(4)), strict=False):
        is_own = given.argval == "self" and rest[0].opname == "LOAD_ATTR"
        is_outside = given.opname in {"LOAD_GLOBAL", "LOAD_DEREF"}
        is_fixed = is_own or is_outside or isinstance(given.argval, int)
        if step.argval in _GENERATORS and is_fixed and "CALL" in rest[is_own].opname:
            return code, step.offset
    return None
