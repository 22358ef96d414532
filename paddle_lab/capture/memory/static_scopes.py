"""Scopes of static programs: C++ objects with named variables, which keep memory.

Deleting the Python name of a scope frees nothing: Paddle keeps each scope until the process ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.events import PLACES
from paddle_lab.holders.living import LivingTensor
from paddle_lab.holders.roots import Root
from paddle_lab.holders.search import Holding
from paddle_lab.words import say

_GLOBAL = "paddle.static.global_scope()"


def global_scope() -> Root:
    """Return the scope that an ``Executor`` uses if no other scope is given."""
    return Root("container", _GLOBAL, require_paddle().static.global_scope())


def in_scopes(holdings: Iterable[Holding]) -> Iterator[LivingTensor]:
    """Yield the tensors in scopes, each with its name in its scope.

    Parameters
    ----------
    holdings
        References to scopes. Of several references to a scope, one by a variable is used, or else
        the first one.
    """
    if not DOOR.has("scopes"):
        return
    by_scope: dict[int, Holding] = {}
    for holding in holdings:
        known = by_scope.setdefault(id(holding.target), holding)
        if known.kind == "container" != holding.kind and known.name != _GLOBAL:
            by_scope[id(holding.target)] = holding
    for holding in by_scope.values():
        for name in DOOR.variables_in_scope(holding.target):
            tensor = _tensor(holding.target, name)
            if tensor is not None:
                size = DOOR.static_numel(tensor) * DOOR.static_element_bytes(
                    DOOR.static_dtype(tensor)
                )
                yield LivingTensor(
                    kind="scope",
                    name=say("memory.held_by.in_scope", name=name, scope=holding.name),
                    root=holding.root,
                    address=DOOR.static_address(tensor),
                    storage_bytes=size,
                    bytes=size,
                    place=PLACES.name(PLACES.number(str(DOOR.static_place(tensor)))),
                )


def _tensor(scope: Any, name: str) -> Any:
    """Return the tensor of a variable of a scope, ``None`` if the variable has no tensor."""
    variable = scope.find_var(name)
    if variable is None or not _is_tensor(variable):
        return None
    tensor = variable.get_tensor()
    return tensor if DOOR.static_is_initialized(tensor) else None


def _is_tensor(variable: Any) -> bool:
    """Return whether a variable holds a dense tensor, without changing the variable.

    ``get_tensor`` would make an empty variable a dense tensor, and the user's program could then
    not use it for another type. ``get_int`` only reads, and its error names the type. If a Paddle
    words the error differently, no variable counts as a tensor.
    """
    try:
        DOOR.static_integer(variable)
    except (RuntimeError, ValueError) as error:  # an empty variable; a variable of another type
        return "DenseTensorE" in str(error)
    return False
