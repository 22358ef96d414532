"""Keyword-only options whose misspelling is answered with the right name."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def hints_options(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a call with an unknown keyword raise a ``TypeError`` that names the nearest one."""
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and name != "self"
    ]
    known = frozenset(names)

    @functools.wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in kwargs:
            if name not in known:
                near = difflib.get_close_matches(name, names, n=1)
                advice = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names)}"
                raise TypeError(f"{function.__name__}() has no option {name!r}; {advice}")
        return function(*args, **kwargs)

    return checked
