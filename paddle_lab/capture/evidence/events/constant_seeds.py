"""Finds calls that set the same seed again and again, in the code of loaders and their data sets.

Worker processes run this code too, where no trace sees it. So its instructions are read.
"""

from __future__ import annotations

import dis
import inspect
from types import CodeType
from typing import Any

_SEEDING = frozenset(("np", "numpy", "random", "paddle", "seed"))
_GENERATORS = frozenset(("seed", "RandomState", "default_rng", "Random"))
_DRAWS = frozenset(
    ("normal", "randn", "rand", "uniform", "random_sample", "randint", "integers",
     "standard_normal", "beta", "gauss", "randrange", "poisson", "binomial")
)  # fmt: skip
_BETWEEN = frozenset(("PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP"))


def worker_seed(function: Any) -> int:
    """Return where a worker function sets a seed that all workers share, as an offset, or -1."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_argcount:
        return -1
    variables = inspect.getclosurevars(function)
    others = [one for one in code.co_names if one not in _SEEDING]
    constants = {**variables.globals, **variables.nonlocals}
    steps = list(dis.get_instructions(code))
    is_used = any(code.co_varnames[0] in one.argrepr.split(", ") for one in steps)
    if is_used or not all(isinstance(constants.get(one), int) for one in others):
        return -1
    return next((one.offset for one in steps if one.argval == "seed"), -1)


def item_seed(dataset: Any) -> tuple[CodeType, int] | None:
    """Return the code and the offset at which ``__getitem__`` seeds noise the same for each item.

    The seed is a constant, a global or an attribute, and nothing is added to it.
    """
    function = getattr(type(dataset), "__getitem__", None)
    code = getattr(function, "__code__", None)
    if code is None or _GENERATORS.isdisjoint(code.co_names) or _DRAWS.isdisjoint(code.co_names):
        return None
    steps = [one for one in dis.get_instructions(code) if one.opname not in _BETWEEN]
    for at, step in enumerate(steps):
        if step.argval not in _GENERATORS or not step.opname.startswith("LOAD"):
            continue
        given, *rest = steps[at + 1 : at + 4] or [step]
        is_own = given.argval == "self" and bool(rest) and rest[0].opname == "LOAD_ATTR"
        is_fixed = is_own or given.opname == "LOAD_GLOBAL" or isinstance(given.argval, int)
        after = rest[is_own : is_own + 1]
        if is_fixed and given.opname.startswith("LOAD") and after and "CALL" in after[0].opname:
            return code, step.offset
    return None
