"""Looking for a few objects among very many: which hold them, which are of some types."""

from __future__ import annotations

from itertools import compress
from typing import Any

from paddle_lab.capture.native import native_twin


@native_twin
def namespaces_with(
    namespaces: list[dict[str, Any]], objects: list[Any], /
) -> list[dict[str, Any]]:
    """Return the dictionaries that have any of some objects, told by identity, as a value."""
    identities = set(map(id, objects))
    return [
        namespace
        for namespace in namespaces
        # Nearly all hold none. Asked for at once, this costs a fifth of looking at each name.
        if not identities.isdisjoint(map(id, list(namespace.values())))
    ]


@native_twin
def instances_among(objects: list[Any], types: list[type], /) -> list[Any]:
    """Return the objects whose type is one of some; subclasses are not looked for."""
    # isinstance() would ask every object in the process for its __class__. There may be a million.
    return list(compress(objects, map(set(types).__contains__, map(type, objects))))
