"""Replacing bindings and putting the originals back: the only code that changes Paddle's objects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

_ABSENT = object()


class AttributePatch:
    """One attribute of a class or module.

    Parameters
    ----------
    owner
        The class or module that holds the attribute, or inherits it.
    name
        The attribute.
    make_replacement
        Called with the attribute as looked up on ``owner``; returns what stands in for it.
    """

    def __init__(self, owner: Any, name: str, make_replacement: Callable[[Any], Any]) -> None:
        self._owner = owner
        self._name = name
        # The raw object (a descriptor, perhaps), so that exactly it goes back; absent if inherited.
        self._original = vars(owner).get(name, _ABSENT)
        self._replacement = make_replacement(getattr(owner, name))
        self._is_applied = False

    def apply(self) -> None:
        """Put the replacement in."""
        setattr(self._owner, self._name, self._replacement)
        self._is_applied = True

    def revert(self) -> None:
        """Put the original back, or remove what was not there."""
        if not self._is_applied:
            return
        self._is_applied = False
        if self._original is _ABSENT:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._original)


class FunctionPatch:
    """Every binding of some functions in every loaded module.

    ``from paddle._C_ops import gelu`` binds the function in the importing module too, so replacing
    it in ``paddle._C_ops`` alone would miss calls. Scanning all modules takes 12–18 ms; the places
    found are remembered, so that ``revert`` and a second ``apply`` take well under a millisecond.

    Parameters
    ----------
    functions
        The originals.
    make_replacement
        Called once for each original that is bound somewhere.
    """

    def __init__(
        self, functions: Iterable[Any], make_replacement: Callable[[Any], Callable[..., Any]]
    ) -> None:
        originals = {id(function): function for function in functions}
        self._replacements: dict[int, Callable[..., Any]] = {}
        self._originals: dict[int, Any] = {}
        self._sites: list[tuple[dict[str, Any], str, Any, Callable[..., Any]]] = []
        for namespace in _module_namespaces():
            for name, value in list(namespace.items()):
                original = originals.get(id(value))
                if original is None or original is not value:
                    continue
                replacement = self._replacements.get(id(value))
                if replacement is None:
                    replacement = self._replacements[id(value)] = make_replacement(original)
                    self._originals[id(replacement)] = original
                self._sites.append((namespace, name, original, replacement))

    def apply(self) -> None:
        """Put the replacements in, wherever the original still stands."""
        for namespace, name, original, replacement in self._sites:
            if namespace.get(name) is original:
                namespace[name] = replacement

    def revert(self) -> None:
        """Put the originals back, wherever a replacement stands."""
        for namespace, name, original, replacement in self._sites:
            if namespace.get(name) is replacement:
                namespace[name] = original

    def sweep(self) -> None:
        """Put originals back also where a module imported meanwhile has bound a replacement."""
        for namespace in _module_namespaces():
            for name, value in list(namespace.items()):
                original = self._originals.get(id(value))
                if original is not None:
                    namespace[name] = original


def _module_namespaces() -> list[dict[str, Any]]:
    # Some entries of sys.modules are None, lazy proxies or objects without a plain dictionary.
    return [
        module.__dict__
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and isinstance(getattr(module, "__dict__", None), dict)
    ]
