"""Finds the tensors, containers and generators that a piece of code may change.

The search follows the names in the code to objects, objects to everything that they refer to, and
functions to the names in their code. It does not search the code of installed libraries, but it
searches their objects: a layer of Paddle is searched for tensors, a module of Paddle is not.
"""

from __future__ import annotations

import io
import logging
import os
import random
import sys
import sysconfig
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from paddle_lab.words import say

_MOST_OBJECTS = 200_000
_ATOMS = (
    type(None), bool, int, float, complex, str, bytes, range, slice, CodeType, BuiltinFunctionType,
    np.generic, np.dtype, logging.Filterer,
)  # fmt: skip
_CONTAINERS = (dict, list, set, deque, CellType)


class Unrepeatable(Exception):  # noqa: N818  (a reason, not a fault)
    """The reason why code cannot run twice, as a sentence for the user."""


class Reached:
    """The objects that a search found, by kind.

    Parameters
    ----------
    tensor_type
        ``paddle.Tensor``.
    """

    def __init__(self, tensor_type: type) -> None:
        self._tensor_type = tensor_type
        self._seen: dict[int, Any] = {}
        """Every object by its id. The objects are held, so that no id is used again."""
        self.tensors: list[Any] = []
        self.containers: list[Any] = []
        """Dicts (including attributes of objects), lists, sets, deques, cells, classes."""
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.generators: list[Any] = []
        """The user's own random generators, ``random.Random`` or NumPy's."""

    def enter(self, roots: Iterable[Any]) -> None:
        """Search everything to which some objects lead.

        Raises
        ------
        Unrepeatable
            If an iterator is found, because a second run would begin where the first run stopped;
            or if there is too much to search.
        """
        waiting = deque(roots)
        while waiting:
            value = waiting.pop()
            if isinstance(value, _ATOMS) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > _MOST_OBJECTS:
                raise Unrepeatable(say("notices.unchecked.too_much"))
            waiting.extend(self._inside(value))

    def _inside(self, value: Any) -> Iterable[Any]:
        if isinstance(value, self._tensor_type):
            self.tensors.append(value)
            return ()
        if isinstance(value, np.ndarray):
            self.arrays.append(value)
            return value.ravel().tolist() if value.dtype.hasobject else ()
        if isinstance(value, (random.Random, np.random.Generator, np.random.RandomState)):
            self.generators.append(value)
            return ()
        if isinstance(value, _CONTAINERS):
            self.containers.append(value)
            return (*_in_container(value), *self._attributes(value))
        if isinstance(value, type):
            return self._of_class(value)
        held = _held_by_call(value)
        if held is not None:
            return held
        _refuse_iterators(value)
        return (*self._attributes(value), *self._of_class(type(value)))

    def _attributes(self, value: Any) -> Iterable[Any]:
        attributes = getattr(value, "__dict__", None)
        if not isinstance(attributes, dict) or _module_of(type(value)).startswith("paddle_lab"):
            return ()
        if id(attributes) not in self._seen:
            self._seen[id(attributes)] = attributes
            self.containers.append(attributes)
        return attributes.values()

    def _of_class(self, kind: type) -> Iterable[Any]:
        if id(kind) in self._seen and self._seen[id(kind)] is not kind:
            return ()
        self._seen[id(kind)] = kind
        if _is_library(_file_of(_module_of(kind))):
            return ()
        self.containers.append(kind)
        return (*vars(kind).values(), *kind.__mro__[1:])


def names_in(code: CodeType) -> Iterator[str]:
    """Yield every name in a code object and in the functions inside it."""
    waiting = [code]
    while waiting:
        one = waiting.pop()
        yield from one.co_names
        waiting.extend(inner for inner in one.co_consts if isinstance(inner, CodeType))


def _in_container(container: Any) -> Iterable[Any]:
    if isinstance(container, CellType):
        try:
            return (container.cell_contents,)
        except ValueError:  # the cell has no value yet
            return ()
    if isinstance(container, dict):
        return (*container.keys(), *container.values())
    return tuple(container)


def _held_by_call(value: Any) -> Iterable[Any] | None:
    """Return the objects that a function or bound method refers to; ``None`` for other objects."""
    if isinstance(value, FunctionType):
        return _of_function(value)
    if isinstance(value, MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, partial):
        return (value.func, value.args, value.keywords)
    if isinstance(value, (tuple, frozenset)):
        return value
    return () if isinstance(value, ModuleType) else None


def _of_function(function: FunctionType) -> Iterable[Any]:
    found = [*(function.__closure__ or ()), *(function.__defaults__ or ()), vars(function)]
    found += (function.__kwdefaults__ or {}).values()
    if not _is_library(function.__code__.co_filename):
        names = function.__globals__
        found += [names[name] for name in names_in(function.__code__) if name in names]
    return found


def _refuse_iterators(value: Any) -> None:
    if isinstance(value, io.IOBase):
        raise Unrepeatable(say("notices.unchecked.open_file"))
    kind = type(value)
    if hasattr(kind, "__next__") and hasattr(kind, "__iter__"):
        name = kind.__name__
        raise Unrepeatable(say("notices.unchecked.iterator", name=name))


def _module_of(kind: type) -> str:
    # A class made in C++ may have no module.
    module = getattr(kind, "__module__", "")
    return module if isinstance(module, str) else ""


def _file_of(module: str) -> str:
    found = sys.modules.get(module)
    # A module without a file is built in, or it is a notebook.
    built_in = "" if module == "__main__" else sysconfig.get_path("stdlib")
    return getattr(found, "__file__", None) or built_in


@cache
def _is_library(file: str) -> bool:
    roots = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return (
        file.startswith(tuple(f"{root}{os.sep}" for root in roots))
        or file in roots
        or not (file.endswith((".py", ".ipynb")) or file == "" or file.startswith("<"))
    )
