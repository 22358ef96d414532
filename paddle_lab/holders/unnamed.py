"""Finds holders to which no name leads. They are described by their types.

Examples are a reference cycle that was not collected yet, a hook that C++ keeps, and the arguments
of a function that is called at exit.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Iterable
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from paddle_lab.holders.frames import GENERATORS
from paddle_lab.holders.references import is_a, references
from paddle_lab.holders.roots import Root
from paddle_lab.words import say

_MOST_HOLDERS: Final = 200
_MOST_ABOVE: Final = 20_000
_MOST_STEPS: Final = 8
"""The most steps upwards from a holder to the holder of this holder, and so on."""
_PARTS: Final = (dict, list, tuple, set, frozenset, CellType)
"""Types that say little about a holder. Instead, the object that holds the holder is named."""
_UNTRACKED: Final = frozenset({dict, tuple, np.ndarray})
"""Types whose objects Python's garbage collector does not track if they cannot be in a cycle."""
_NO_HOLDERS: Final = (FrameType, ModuleType)


def unnamed_roots(is_sought: Callable[[type], bool], known: Collection[int]) -> list[Root]:
    """Return holders that a search from names did not reach.

    Parameters
    ----------
    is_sought
        Tells whether the search looks for objects of a type.
    known
        The ids of objects that the search has seen or made.
    """
    objects = [value for value in gc.get_objects() if id(value) not in known]
    objects = [value for value in objects if not is_a(value, _NO_HOLDERS) and not _is_ours(value)]
    holders = [position for position, value in enumerate(objects) if _leads(value, is_sought)][
        :_MOST_HOLDERS
    ]
    if not holders:
        return []
    above = _above(objects, holders)
    collectable = _collectable(objects, above)
    roots: dict[int, Root] = {}
    for holder in holders:
        top = _top(objects, above, holder)
        remark = say("memory.held_by.cycle" if holder in collectable else "memory.held_by.no_name")
        roots[top] = Root("container", _name(objects[top]), objects[top], remark=remark)
    return list(roots.values())


def _leads(value: Any, is_sought: Callable[[type], bool], *, depth: int = 4) -> bool:
    """Tell whether an object refers to a sought object, also through untracked objects."""
    held = references(value)
    kinds = set(map(type, held))
    if any(map(is_sought, kinds)):
        return True
    if depth == 0 or kinds.isdisjoint(_UNTRACKED):
        return False
    unknown = [part for part in held if type(part) in _UNTRACKED and not gc.is_tracked(part)]
    return any(_leads(part, is_sought, depth=depth - 1) for part in unknown)


def _above(objects: list[Any], holders: Iterable[int]) -> dict[int, list[int]]:
    """Return the holders, the holders of these holders and so on, each with its own holders.

    Objects are given by position, because a list of them would add references that are counted
    later.
    """
    positions = {id(value): position for position, value in enumerate(objects)}
    parents: dict[int, list[int]] = {}
    for position, value in enumerate(objects):
        for child in map(positions.get, map(id, gc.get_referents(value))):
            if child is not None:
                parents.setdefault(child, []).append(position)
    above: dict[int, list[int]] = {}
    ahead = list(holders)
    while ahead and len(above) < _MOST_ABOVE:
        position = ahead.pop()
        if position not in above:
            above[position] = parents.get(position, [])
            ahead += above[position]
    return above


def _collectable(objects: list[Any], above: dict[int, list[int]]) -> set[int]:
    """Return the objects that only reference cycles hold, found like in a garbage collection."""
    if len(above) >= _MOST_ABOVE:
        return set()
    only = [object()]
    ours = sys.getrefcount(only[0])
    ahead = [
        position
        for position, parents in above.items()
        if sys.getrefcount(objects[position]) > ours + len(parents)
    ]
    below: dict[int, list[int]] = {}
    for position, parents in above.items():
        for parent in parents:
            below.setdefault(parent, []).append(position)
    held: set[int] = set()
    while ahead:
        position = ahead.pop()
        if position not in held:
            held.add(position)
            ahead += below.get(position, [])
    return set(above) - held


def _top(objects: list[Any], above: dict[int, list[int]], position: int) -> int:
    """Return the nearest holder on the way up that has an informative type."""
    at, passed = position, {position}
    while is_a(objects[at], _PARTS) and len(passed) <= _MOST_STEPS:
        parent = next((one for one in above.get(at, ()) if one not in passed), None)
        if parent is None:
            break
        at = parent
        passed.add(at)
    return at


def _name(value: Any) -> str:
    if is_a(value, (FunctionType, *GENERATORS)):
        return f"<{value.__qualname__}>"
    return f"<{type.__getattribute__(type(value), '__qualname__')}>"


def _is_ours(value: Any) -> bool:
    module = type.__getattribute__(type(value), "__module__")
    return isinstance(module, str) and module.startswith("paddle_lab.")
