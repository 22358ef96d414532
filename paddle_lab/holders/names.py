"""How a person writes the way from a name to an object: ``cache.items[3]``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cached_property
from threading import local
from types import CellType, FunctionType, MemberDescriptorType, MethodType, TracebackType
from typing import Any
from weakref import ReferenceType

import numpy as np

from paddle_lab.holders.frames import CALLS, call_of
from paddle_lab.holders.references import is_a
from paddle_lab.words import say

_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
# Dictionaries of a paddle.nn.Layer whose items are its attributes.
_LAYER_DICTIONARIES = ("_parameters", "_sub_layers", "_buffers")
_MOST_CHARACTERS = 200


class Way:
    """The way from a root to an object, as near to Python as it gets.

    Parameters
    ----------
    path
        The way so far: ``"cache.items[3]"``.
    end
        The object at its end.
    owner
        Whose attributes they are, if the object at the end is a dictionary whose items a person
        writes as attributes.
    call
        Where the path begins, unless at the root: ``" in forward(), last traceback"``.
    """

    def __init__(self, path: str, end: Any, owner: Any = None, *, call: str = "") -> None:
        self._path = _shortened(path)
        self._call = _shortened(call)
        self._end = end
        self._owner = owner

    @property
    def text(self) -> str:
        """The way in words: ``"cache.items[3]"``, ``"hidden[0] in forward(), last traceback"``."""
        return self._path + self._call

    @cached_property
    def _keys(self) -> dict[int, Any]:
        return _keys(self._end)

    def step(self, held: Any) -> Way:
        """Return the way to an object that the one at the end refers to."""
        holder, keys = self._end, self._keys
        if is_a(holder, dict):
            key = keys.get(id(held))
            is_attribute = self._owner is not None
            is_layers = is_attribute and _is_layer(self._owner) and key in _LAYER_DICTIONARIES
            # A thread's part of a threading.local has attributes as well.
            if is_layers or (is_attribute and _is_thread(key) and is_a(held, dict)):
                return self._on("", held, held)
            return self._on(_item(key, is_attribute=is_attribute), held)
        if _holds_attributes_in(holder, held):
            return self._on("", held, holder)
        if is_a(holder, CALLS):
            call = say("holders.in_call", function=call_of(holder).function, root=self.text)
            return Way(keys.get(id(held), say("holders.variable")), held, call=call)
        if is_a(holder, np.ndarray):
            return self._on(_array_part(holder, held), held)
        if is_a(holder, FunctionType):
            return self._on(_function_part(holder, held), held)
        if is_a(holder, (TracebackType, CellType)) or is_a(held, TracebackType):
            return self._on("", held)
        return self._on(_member(holder, held, keys), held)

    def _on(self, part: str, held: Any, owner: Any = None) -> Way:
        return Way(self._path + part, held, owner, call=self._call)


def _keys(holder: Any) -> dict[int, Any]:
    """Return the holder's items by identity: keys, indices, names; the first of several."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if is_a(holder, dict):
        pairs = list(dict.items(holder))
    elif is_a(holder, CALLS):
        pairs = call_of(holder).variables.items()
    for sequence in _SEQUENCES:
        if is_a(holder, sequence):
            pairs = enumerate(sequence.__iter__(holder))
    keys: dict[int, Any] = {}
    for key, value in pairs:
        keys.setdefault(id(value), key)
    return keys


def _array_part(array: Any, held: Any) -> str:
    if is_a(held, np.ndarray):
        return ""
    base = np.ndarray.base.__get__(array)
    if held is base:
        return say("holders.shares_memory")
    items = np.ndarray.ravel(array).tolist()
    position = next((at for at, item in enumerate(items) if item is held), None)
    if position is None:
        return say("holders.inside", object=_a(array))
    shape = np.ndarray.shape.__get__(array)
    return f"[{', '.join(str(index) for index in np.unravel_index(position, shape))}]"


def _a(value: Any) -> str:
    """Return an object's type with its article: ``"an itertools.cycle"``."""
    kind = type(value)
    name = kind.__name__
    if type.__getattribute__(kind, "__module__") == "itertools":  # whose names are everyday words
        name = f"itertools.{name}"
    return say("holders.an" if name[0] in "aeiouAEIOU" else "holders.a", name=name)


def _holds_attributes_in(holder: Any, held: Any) -> bool:
    """Tell whether ``held`` is a dictionary whose items are attributes of ``holder``."""
    if not is_a(held, dict):
        return False
    if is_a(holder, type):  # ``__dict__`` of a class is a read-only proxy
        return True
    if is_a(holder, local):  # its dictionaries hold each thread's attributes
        return True
    own = _attributes(holder)
    is_layers = _is_layer(holder) and any(own.get(name) is held for name in _LAYER_DICTIONARIES)
    return held is own or is_layers


def _is_thread(key: Any) -> bool:
    """Tell whether a key stands for a thread in a ``threading.local``."""
    # A weak reference before Python 3.13, since then an object of a type that no module names.
    return is_a(key, ReferenceType) or type(key).__name__ == "_localdummy"


def _is_layer(holder: Any) -> bool:
    return any("named_sublayers" in vars(class_) for class_ in type(holder).__mro__)


def _item(key: Any, *, is_attribute: bool) -> str:
    if key is None:
        return " (a key)"
    return f".{key}" if is_attribute and is_a(key, str) else f"[{_key_text(key)}]"


def _key_text(key: Any) -> str:
    if is_a(key, (str, int, float, bool, bytes)):
        text = repr(key)
        return text if len(text) <= 40 else f"{text[:37]}…"
    return f"<{type(key).__name__}>"


def _member(holder: Any, held: Any, keys: dict[int, Any]) -> str:
    index = keys.get(id(held))
    if index is not None:
        fields = getattr(type(holder), "_fields", None)
        return f".{fields[index]}" if fields else f"[{index}]"
    for name, value in list(_attributes(holder).items()):
        if value is held:
            return f".{name}"
    for class_ in type(holder).__mro__:
        for slot, member in vars(class_).items():
            if type(member) is MemberDescriptorType and _slot(member, holder) is held:
                return f".{slot}"
    return ".__self__" if is_a(holder, MethodType) else say("holders.inside", object=_a(holder))


def _slot(member: MemberDescriptorType, holder: Any) -> Any:
    try:
        return member.__get__(holder)
    except AttributeError:
        return None


def _attributes(holder: Any) -> dict[str, Any]:
    try:
        attributes = object.__getattribute__(holder, "__dict__")
    except AttributeError:
        return {}
    return attributes if is_a(attributes, dict) else {}


def _function_part(function: FunctionType, held: Any) -> str:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if cell is held:
            return say("holders.closure", name=name)
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name) is held:
            return f".{name}"
    return _member(function, held, {})


def _shortened(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]}…{text[-half:]}"
