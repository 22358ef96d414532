"""The search for holders: breadth-first from the roots. Each object is visited once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from types import ModuleType
from typing import Any, TypeVar

from paddle_lab.garbage import collection_paused
from paddle_lab.holders.names import Way
from paddle_lab.holders.references import has_references, is_a, reader
from paddle_lab.holders.roots import Root, RootKind, is_user_module
from paddle_lab.holders.unnamed import unnamed_roots

_ATOMS = (int, float, complex, bool, str, bytes, bytearray, type(None), type(...), range, slice)
# Reads the dictionary of a class, even if its metaclass overrides ``__dict__``.
_CLASS_ATTRIBUTES = vars(type)["__dict__"]
# How to handle objects of a type: report them, search inside them, or decide for each object.
_SOUGHT, _ENTERED, _ASKED = 1, 2, 4
# The search checks its time limit after this many objects.
_PACE = 512
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Holding:
    """A reference to an object that the search looks for.

    Parameters
    ----------
    kind
        ``"variable"`` if the object is a variable's value, ``"container"`` if it is inside a
        container; ``"output"`` or ``"traceback"`` if the root has this kind.
    name
        The path to the object, as a user would write it.
    root
        The root from which the object was found.
    target
        The object.
    """

    kind: RootKind
    name: str
    root: Root
    target: Any


class _ByType(dict[type, _Answer]):
    """Caches the results of a function of a type. The function is called once for each type."""

    def __init__(self, ask: Callable[[type], _Answer]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, kind: type) -> _Answer:
        answer = self[kind] = self._ask(kind)
        return answer


def _handled(
    is_target: Callable[[type], bool], is_excluded: Callable[[type], bool]
) -> Callable[[type], int]:
    """Return the function that decides how to handle objects of a type.

    The function must not refer to the search. Such a cycle would keep all results alive until a
    garbage collection.
    """

    def handled(kind: type) -> int:
        what = _SOUGHT if is_target(kind) else 0
        if not issubclass(kind, _ATOMS) and has_references(kind) and not is_excluded(kind):
            what |= _ENTERED
        return what | _ASKED if issubclass(kind, type) else what

    return handled


class HolderSearch:
    """Finds objects of certain types inside roots. Each call of :meth:`walk` adds results.

    A container that two roots reach belongs to the first root. The results have one entry for each
    reference to an object.

    Parameters
    ----------
    is_target
        Tells whether the search looks for objects of a type.
    excluded
        Objects that are not searched, such as IPython's shell, which refers to all names.
    excluded_types
        Tells whether objects of a type are not searched.
    budget_s
        The time limit of the whole search, in seconds.
    """

    def __init__(
        self,
        is_target: Callable[[type], bool],
        *,
        excluded: Iterable[Any] = (),
        excluded_types: Callable[[type], bool] = lambda _kind: False,
        budget_s: float = 2.0,
    ) -> None:
        self._end_s = monotonic() + budget_s
        self._enters_libraries = False
        # The objects found, and for each the position of the object that refers to it.
        self._found: list[Any] = []
        self._origins: list[int] = []
        self._ways: dict[int, Way] = {}
        # The dictionary of a module is searched only as a root, even if other objects refer to it.
        self._excluded = list(excluded)
        self._excluded += [vars(kept) for kept in self._excluded if hasattr(kept, "__dict__")]
        self._seen = {id(vars(module)) for module in _modules()}
        self._seen |= {id(self), *map(id, self._excluded)}
        self._handling = _ByType(_handled(is_target, excluded_types))
        self._readers = _ByType(reader)
        self.holdings: list[Holding] = []
        self.is_complete = True
        """False if the time ran out."""

    def allow(self, budget_s: float) -> None:
        """Give the search more time, in seconds from now."""
        self._end_s = max(self._end_s, monotonic() + budget_s)

    def walk(self, roots: Iterable[Root], *, enters_libraries: bool = False) -> None:
        """Search everything that the roots lead to and that was not searched before.

        Parameters
        ----------
        roots
            The roots.
        enters_libraries
            Whether to search also the attributes of classes of libraries.
        """
        self._enters_libraries = enters_libraries
        # The search makes many objects. The garbage collector would visit all living objects
        # repeatedly.
        with collection_paused():
            self._walk(roots)

    def walk_unnamed(self) -> None:
        """Search objects that no root leads to. Their names are their types."""
        if not self._has_time():
            return
        own: list[Any] = [self._found, self._origins, self._ways, self.holdings, vars(self)]
        own += [*self.holdings, *self._ways.values(), *map(vars, self._ways.values())]
        own += map(vars, self.holdings)
        with collection_paused():
            self._walk(unnamed_roots(self._is_sought, self._seen.union(map(id, own))))

    def _walk(self, roots: Iterable[Root]) -> None:
        for root in roots:
            if not self._has_time():
                return
            value, first = root.value, len(self._found)
            if self._is_sought(type(value)):
                self.holdings.append(Holding(root.kind, root.label, root, value))
            is_new = id(value) not in self._seen and self._handling[type(value)] & _ENTERED
            if root.is_namespace or (is_new and self._is_entered(value)):
                self._seen.add(id(value))
                self._found.append(value)
                self._origins.append(-1)
                self._expand(root, first)

    def _expand(self, root: Root, position: int) -> None:
        found, origins, seen = self._found, self._origins, self._seen
        handling, readers = self._handling, self._readers
        while position < len(found):
            if position % _PACE == 0 and not self._has_time():
                return
            holder = found[position]
            targets: dict[int, Any] = {}
            for held in readers[type(holder)](holder):
                handled = handling[type(held)]
                if not handled:
                    continue
                identity = id(held)
                if handled & _SOUGHT:
                    targets[identity] = held
                if identity in seen or not handled & _ENTERED:
                    continue
                if not handled & _ASKED or self._is_entered(held):
                    seen.add(identity)
                    found.append(held)
                    origins.append(position)
            if targets:
                self._hold(root, position, list(targets.values()))
            position += 1

    def _hold(self, root: Root, position: int, targets: list[Any]) -> None:
        way = self._way(root, position)
        kind: RootKind = "container" if root.kind == "variable" else root.kind
        self.holdings += [Holding(kind, way.step(held).text, root, held) for held in targets]

    def _way(self, root: Root, position: int) -> Way:
        """Return the path to a found object. The paths on the way are cached."""
        ways, ahead = self._ways, []
        while position >= 0 and position not in ways:
            ahead.append(position)
            position = self._origins[position]
        for step in reversed(ahead):
            value, holder = self._found[step], self._origins[step]
            ways[step] = (
                Way(root.name, value, value if root.is_namespace else None, call=root.remark)
                if holder < 0
                else ways[holder].step(value)
            )
            position = step
        return ways[position]

    def _is_sought(self, kind: type) -> bool:
        return bool(self._handling[kind] & _SOUGHT)

    def _is_entered(self, value: Any) -> bool:
        """Tell whether to search inside an object. Classes of libraries are skipped by default."""
        if is_a(value, type) and not self._enters_libraries:
            name = _CLASS_ATTRIBUTES.__get__(value).get("__module__")
            module = sys.modules.get(name) if isinstance(name, str) else None
            return name == "__main__" or (module is not None and is_user_module(module))
        return True

    def _has_time(self) -> bool:
        if monotonic() > self._end_s:
            self.is_complete = False
        return self.is_complete


def _modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if is_a(module, ModuleType)]
