"""The path from a name to an object, in Python syntax: ``cache.items[3]``."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import local
from types import CellType, FunctionType, MemberDescriptorType, MethodType, TracebackType
from typing import Any, TypeAlias

import numpy as np

from paddle_lab.holders.frames import CALLS, call_of
from paddle_lab.holders.references import is_a
from paddle_lab.words import say

_Part: TypeAlias = tuple[Any, Any, Callable[[Any], str]]
"""A held object, its key in the holder, and a function that formats the key."""
_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
# In a ``paddle.nn.Layer``, these dictionaries contain the attributes.
_LAYER_DICTIONARIES = ("_parameters", "_sub_layers", "_buffers")
_MOST_CHARACTERS = 200


class Way:
    """The path from a root to an object.

    Parameters
    ----------
    path
        The path so far: ``"cache.items[3]"``.
    end
        The object at the end of the path.
    owner
        The object that has these attributes, if the end is a dictionary of attributes.
    call
        Text about the call in which the path begins, if any: ``" in forward(), last traceback"``.
    """

    def __init__(self, path: str, end: Any, owner: Any = None, *, call: str = "") -> None:
        self._path = _shortened(path)
        self._call = _shortened(call)
        self._end = end
        self._owner = owner

    @property
    def text(self) -> str:
        """The path as text: ``"cache[3]"`` or ``"hidden[0] in forward(), last traceback"``."""
        return self._path + self._call

    @cached_property
    def _parts(self) -> dict[int, tuple[Any, Callable[[Any], str]]]:
        """Maps the id of each object that the end refers to, to its first key."""
        parts: dict[int, tuple[Any, Callable[[Any], str]]] = {}
        for held, key, write in _parts(self._end, self._owner):
            parts.setdefault(id(held), (key, write))
        return parts

    def step(self, held: Any) -> Way:
        """Return the path that continues to an object to which the end object refers."""
        holder = self._end
        key, write = self._parts.get(id(held), (holder, _inside))
        if is_a(holder, CALLS):
            call = say("memory.held_by.in_call", function=call_of(holder).function, root=self.text)
            name = say("memory.held_by.variable") if write is _inside else key
            return Way(name, held, call=call)
        owner = holder if write is _as_attributes else None
        return Way(self._path + write(key), held, owner, call=self._call)


def _parts(holder: Any, owner: Any) -> Iterator[_Part]:
    """Yield the objects to which a holder refers, if they have a key."""
    if is_a(holder, dict):
        yield from _items(holder, owner)
    elif is_a(holder, CALLS):
        yield from ((value, name, str) for name, value in call_of(holder).variables.items())
    elif is_a(holder, np.ndarray):
        yield from _array_parts(holder)
    elif is_a(holder, (CellType, TracebackType)):
        yield from ((held, "", str) for held in gc.get_referents(holder))
    elif is_a(holder, (type, local)):
        yield from ((held, "", _as_attributes) for held in gc.get_referents(holder))
    else:
        yield from _members(holder)


def _items(holder: dict[Any, Any], owner: Any) -> Iterator[_Part]:
    for key, value in list(dict.items(holder)):
        if owner is None:
            yield value, key, _item
        elif is_a(owner, local) or (_is_layer(owner) and key in _LAYER_DICTIONARIES):
            yield value, "", _as_attributes
        else:
            yield value, key, _attribute


def _array_parts(array: Any) -> Iterator[_Part]:
    base = np.ndarray.base.__get__(array)
    yield base, "" if is_a(base, np.ndarray) else say("memory.held_by.shares_memory"), str
    if np.ndarray.dtype.__get__(array).kind == "O":
        indices = np.ndindex(np.ndarray.shape.__get__(array))
        for index, value in zip(indices, np.ndarray.ravel(array).tolist(), strict=True):
            yield value, ", ".join(map(str, index)), "[{}]".format


def _members(holder: Any) -> Iterator[_Part]:
    for sequence in _SEQUENCES:
        if is_a(holder, sequence):
            fields = getattr(type(holder), "_fields", ())
            for index, value in enumerate(sequence.__iter__(holder)):
                yield (value, fields[index], _attribute) if fields else (value, index, _item)
    if is_a(holder, (FunctionType, MethodType, BaseException)):
        yield from _unlisted(holder)
    own = _attributes(holder)
    if own is not None:
        yield own, "", _as_attributes
        yield from _items(own, holder)
    for class_ in type(holder).__mro__:
        for slot, member in vars(class_).items():
            if type(member) is MemberDescriptorType:
                yield _slot(member, holder), slot, _attribute


def _unlisted(holder: Any) -> Iterator[_Part]:
    """Yield the objects to which an object refers without its dictionary and its slots."""
    if is_a(holder, FunctionType):
        cells = holder.__closure__ or ()
        for name, cell in zip(holder.__code__.co_freevars, cells, strict=True):
            yield cell, say("memory.held_by.closure", name=name), str
        for name in ("__defaults__", "__kwdefaults__"):
            yield getattr(holder, name), name, _attribute
    elif is_a(holder, MethodType):
        yield holder.__self__, "__self__", _attribute
    else:
        tracebacks = (held for held in gc.get_referents(holder) if is_a(held, TracebackType))
        yield from ((held, "", str) for held in tracebacks)


def _as_attributes(_key: Any) -> str:
    """Return no text, because the keys of the dictionary are attributes of the holder."""
    return ""


def _attribute(key: Any) -> str:
    return f".{key}" if is_a(key, str) else _item(key)


def _item(key: Any) -> str:
    text = f"<{type(key).__name__}>"
    if is_a(key, (str, int, float, bool, bytes)):
        text = repr(key)
    return f"[{text}]" if len(text) <= 40 else f"[{text[:37]}…]"


def _inside(holder: Any) -> str:
    """Return the text for an object that has no key, such as ``" (in a set)"``."""
    if is_a(holder, dict):
        return " (a key)"
    kind = type(holder)
    name = kind.__name__
    if type.__getattribute__(kind, "__module__") == "itertools":  # such as itertools.count
        name = f"itertools.{name}"
    object_ = say("memory.held_by.an" if name[0] in "aeiouAEIOU" else "memory.held_by.a", name=name)
    return say("memory.held_by.inside", object=object_)


def _is_layer(holder: Any) -> bool:
    return any("named_sublayers" in vars(class_) for class_ in type(holder).__mro__)


def _slot(member: MemberDescriptorType, holder: Any) -> Any:
    try:
        return member.__get__(holder)
    except AttributeError:
        return None


def _attributes(holder: Any) -> dict[str, Any] | None:
    try:
        attributes = object.__getattribute__(holder, "__dict__")
    except AttributeError:
        return None
    return attributes if is_a(attributes, dict) else None


def _shortened(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]}…{text[-half:]}"
