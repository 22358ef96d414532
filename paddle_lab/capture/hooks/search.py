"""Fast searches for a few objects among very many."""

from __future__ import annotations

import inspect
import sys
from itertools import compress
from types import ModuleType
from typing import Any

from paddle_lab.capture.native import native_twin


def module_namespaces() -> list[dict[str, Any]]:
    """Return the dictionaries of all loaded modules.

    The attributes of a lazy module, ``__dict__`` too, would load it, which may fail. Entries of
    ``sys.modules`` that are no modules are skipped, such as ``None`` and proxies.
    """
    namespace_of = vars(ModuleType)["__dict__"].__get__
    modules = list(sys.modules.values())
    return [namespace_of(module) for module in modules if issubclass(type(module), ModuleType)]


@native_twin
def bindings(
    namespaces: list[dict[str, Any]], objects: list[Any], /
) -> list[tuple[dict[str, Any], str, Any]]:
    """Return where namespaces bind one of the objects: the namespace, the name and the object."""
    identities = set(map(id, objects))
    return [
        (namespace, name, value)
        for namespace in namespaces
        # Hardly any module has one of the objects. This test takes a fifth of the time of a loop
        # over names.
        if not identities.isdisjoint(map(id, list(namespace.values())))
        for name, value in list(namespace.items())
        if id(value) in identities
    ]


def instances_among(objects: list[Any], types: list[type], /) -> list[Any]:
    """Return the objects whose type is one of the types. Subclasses do not count."""
    # isinstance() would read __class__ of every object in the process, which may have a million.
    return list(compress(objects, map(set(types).__contains__, map(type, objects))))


def with_subclasses(root: type) -> list[type]:
    """Return a class and all classes that inherit from the class, each once."""
    found = [root]
    for kind in found:
        subclasses: list[type] = kind.__subclasses__()
        found += [subclass for subclass in subclasses if subclass not in found]
    return found


def with_own_init(root: type) -> list[type]:
    """Return a class, and the subclasses in its package that do not call its ``__init__``.

    In Paddle 3.3, ``AdamW`` is the only such optimizer.
    """
    package = root.__module__.rpartition(".")[0] + "."
    found = [kind for kind in with_subclasses(root) if "__init__" in vars(kind)]
    codes = (getattr(inspect.unwrap(vars(kind)["__init__"]), "__code__", None) for kind in found)
    return [
        kind
        for kind, code in zip(found, codes, strict=True)
        if kind is root or (kind.__module__.startswith(package)
                            and code is not None and "__init__" not in code.co_names)
    ]  # fmt: skip
