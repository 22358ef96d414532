"""Replaces attributes and functions of Paddle, and puts the originals back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from paddle_lab.capture.hooks.search import bindings, module_namespaces

_ABSENT = object()


class AttributePatch:
    """One attribute of a class or module.

    Parameters
    ----------
    owner
        The class or module that has the attribute, or inherits it.
    name
        The attribute.
    make_replacement
        Called with the attribute's value on ``owner``; returns the replacement.
    """

    def __init__(self, owner: Any, name: str, make_replacement: Callable[[Any], Any]) -> None:
        self._owner = owner
        self._name = name
        # The original object, perhaps a descriptor, is restored later. It is absent if inherited.
        self._original = vars(owner).get(name, _ABSENT)
        self._replacement = make_replacement(getattr(owner, name))

    @property
    def place(self) -> tuple[Any, str]:
        """The class or module, and the name of the attribute. Patches must not share a place."""
        return self._owner, self._name

    def apply(self) -> None:
        """Set the replacement, unless other code has replaced the original in the meantime."""
        if vars(self._owner).get(self._name, _ABSENT) is self._original:
            setattr(self._owner, self._name, self._replacement)

    def revert(self) -> None:
        """Put the original back, if the replacement is still there."""
        if vars(self._owner).get(self._name, _ABSENT) is not self._replacement:
            return
        if self._original is _ABSENT:
            delattr(self._owner, self._name)
        else:
            setattr(self._owner, self._name, self._original)


class FunctionPatch:
    """All bindings of some functions, in every loaded module.

    ``from paddle._C_ops import gelu`` binds the function in the importing module too, so replacing
    it in ``paddle._C_ops`` alone would miss calls. Finding all bindings takes a few milliseconds.
    They are remembered, so that suspending the hooks takes well under one millisecond.

    Parameters
    ----------
    functions
        The originals.
    make_replacement
        Called once for each original, when the original is first found bound.
    """

    def __init__(
        self, functions: Iterable[Any], make_replacement: Callable[[Any], Callable[..., Any]]
    ) -> None:
        self._functions = list({id(function): function for function in functions}.values())
        self._make_replacement = make_replacement
        self._pairs: dict[int, tuple[Any, Callable[..., Any]]] = {}
        """Each function that was found with its replacement, by the id of the function."""
        self._sites: list[tuple[dict[str, Any], str, Any, Callable[..., Any]]] = []

    def find(self) -> None:
        """Look for the functions in all modules that are loaded now."""
        pairs, found = self._pairs, bindings(module_namespaces(), self._functions)
        for _, _, original in found:
            if id(original) not in pairs:
                pairs[id(original)] = original, self._make_replacement(original)
        self._sites = [(namespace, name, *pairs[id(value)]) for namespace, name, value in found]

    def apply(self) -> None:
        """Set the replacements wherever the original is still bound."""
        for namespace, name, original, replacement in self._sites:
            if namespace.get(name) is original:
                namespace[name] = replacement

    def revert(self) -> None:
        """Put the originals back wherever a replacement is bound."""
        for namespace, name, original, replacement in self._sites:
            if namespace.get(name) is replacement:
                namespace[name] = original

    def sweep(self) -> None:
        """Put originals back also in modules that were imported in the meantime."""
        pairs = self._pairs.values()
        for namespace, name, value in bindings(module_namespaces(), [made for _, made in pairs]):
            namespace[name] = next(original for original, made in pairs if made is value)
        self._sites = []


@contextmanager
def applied(*patches: AttributePatch) -> Iterator[None]:
    """Apply patches for a block."""
    for patch in patches:
        patch.apply()
    try:
        yield
    finally:
        for patch in patches:
            patch.revert()


Patch = AttributePatch | FunctionPatch
