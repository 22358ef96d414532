"""Errors for unknown keyword options. They name the nearest known option."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from paddle_lab.words import say
from paddle_lab.words.suggestion import suggestion

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
                advice = suggestion(name, names, shown=repr)
                called = function.__name__
                raise TypeError(
                    say("errors.no_keyword", function=called, name=repr(name), advice=advice)
                )
        return function(*args, **kwargs)

    return checked
