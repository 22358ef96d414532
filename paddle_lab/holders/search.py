"""The search itself: breadth first from roots, each object visited once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from types import ModuleType
from typing import Any

from paddle_lab.garbage import collection_paused
from paddle_lab.holders.names import Way
from paddle_lab.holders.references import is_a, references
from paddle_lab.holders.roots import Root, RootKind, is_user_module

_ATOMS = (int, float, complex, bool, str, bytes, bytearray, type(None), type(...), range, slice)
# A class's own dictionary, whatever its metaclass says.
_CLASS_ATTRIBUTES = vars(type)["__dict__"]
# How many objects are visited between two looks at the clock.
_PACE = 512


@dataclass(frozen=True)
class Holding:
    """One reference to a sought object.

    Parameters
    ----------
    kind
        ``"variable"``: a variable is the object; ``"container"``: it lies inside of something;
        ``"output"`` and ``"traceback"`` as their roots.
    name
        The way to the object, as a person would write it.
    root
        The root from which it was found.
    target
        The object.
    """

    kind: RootKind
    name: str
    root: Root
    target: Any


class HolderSearch:
    """Finds sought objects below roots; each call of :meth:`walk` goes on where the last ended.

    An object that two roots lead to belongs to the first, so the order of roots says whose it is;
    a sought object itself is found again by every reference to it.

    Parameters
    ----------
    is_target
        Tells by type whether objects are sought.
    excluded
        Objects never looked into: what keeps the names, such as a shell, is no holder of its own.
    budget_s
        How long to search in all, in seconds.
    is_cancelled
        Asked now and then; the search stops when it says so.
    """

    def __init__(
        self,
        is_target: Callable[[type], bool],
        *,
        excluded: Iterable[Any] = (),
        budget_s: float = 2.0,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_target = is_target
        self._end_s = monotonic() + budget_s
        self._is_cancelled = is_cancelled
        self._enters_libraries = False
        # An object, and the position of the one through which it was found.
        self._found: list[tuple[Any, int]] = []
        self._ways: dict[int, Way] = {}
        # Module dictionaries are namespaces of their own, wherever they are met.
        self._excluded = list(excluded)
        self._seen = {id(vars(module)) for module in _modules()}
        self._seen |= {id(self), *map(id, self._excluded)}
        self._kinds: dict[type, bool] = {}
        self.holdings: list[Holding] = []
        self.is_complete = True
        """Whether all was searched; not, if time ran out or somebody cancelled."""

    def walk(self, roots: Iterable[Root], *, enters_libraries: bool = False) -> None:
        """Search all that the roots lead to and that was not searched before.

        Parameters
        ----------
        roots
            Where to begin.
        enters_libraries
            Whether to look into the attributes of classes that are not the user's.
        """
        self._enters_libraries = enters_libraries
        # What is noted on the way would have all that lives visited again and again.
        with collection_paused():
            self._walk(roots)

    def _walk(self, roots: Iterable[Root]) -> None:
        for root in roots:
            if not self._has_time():
                return
            first = len(self._found)
            if self._is_sought(type(root.value)):
                self.holdings.append(Holding(root.kind, root.name, root, root.value))
            if root.is_namespace or self._is_new(root.value):
                self._seen.add(id(root.value))
                self._found.append((root.value, -1))
                self._expand(root, first)

    def _expand(self, root: Root, position: int) -> None:
        found = self._found
        while position < len(found):
            if position % _PACE == 0 and not self._has_time():
                return
            holder = found[position][0]
            targets: dict[int, Any] = {}
            for held in references(holder):
                kind = type(held)
                if kind in _ATOM_TYPES:
                    continue
                if self._is_sought(kind):
                    targets[id(held)] = held
                if self._is_new(held):
                    self._seen.add(id(held))
                    found.append((held, position))
            if targets:
                self._hold(root, position, list(targets.values()))
            position += 1

    def _hold(self, root: Root, position: int, targets: list[Any]) -> None:
        way = self._way(root, position)
        kind: RootKind = "container" if root.kind == "variable" else root.kind
        self.holdings += [Holding(kind, way.step(held).text, root, held) for held in targets]

    def _way(self, root: Root, position: int) -> Way:
        """Return the way to what was found; those to its holders serve what they hold besides."""
        ways, ahead = self._ways, []
        while position >= 0 and position not in ways:
            ahead.append(position)
            position = self._found[position][1]
        for step in reversed(ahead):
            value, holder = self._found[step]
            ways[step] = (
                Way(root.name, value, value if root.is_namespace else None)
                if holder < 0
                else ways[holder].step(value)
            )
            position = step
        return ways[position]

    def _is_sought(self, kind: type) -> bool:
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = self._is_target(kind)
        return known

    def _is_new(self, value: Any) -> bool:
        if id(value) in self._seen or is_a(value, _ATOMS):
            return False
        if is_a(value, type) and not self._enters_libraries:
            name = _CLASS_ATTRIBUTES.__get__(value).get("__module__")
            module = sys.modules.get(name) if isinstance(name, str) else None
            return name == "__main__" or (module is not None and is_user_module(module))
        return True

    def _has_time(self) -> bool:
        if monotonic() > self._end_s or self._is_cancelled():
            self.is_complete = False
        return self.is_complete


_ATOM_TYPES = frozenset(_ATOMS)


def _modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if is_a(module, ModuleType)]
