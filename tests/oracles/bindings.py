"""Every binding that a capture might replace, remembered by identity."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import paddle
from paddle.base import core

if TYPE_CHECKING:
    from collections.abc import Iterator

_OP_MODULES = (core.eager.ops, core.pir.ops, core.eager.ops.legacy)
_CLASSES = (
    paddle.Tensor,
    paddle.base.framework.EagerParamBase,
    paddle.nn.Layer,
    paddle.autograd.PyLayer,
    paddle.autograd.py_layer.PyLayer,
    core.eager.PyLayer,
    paddle.optimizer.Optimizer,
    paddle.jit.dy2static.program_translator.StaticFunction,
)
_OP_FUNCTIONS = frozenset(
    id(value)
    for module in _OP_MODULES
    for value in vars(module).values()
    if isinstance(value, BuiltinFunctionType)
)

Bound = dict[str, Any]
_searched: dict[str, tuple[int, Bound]] = {}
"""For each module, a hash of all that it binds, and what was found."""


class Bindings:
    """A snapshot of who is bound where, taken when this is made.

    Covered are all module-level bindings of Paddle's op functions in every loaded module, all of
    ``core.eager``, and the class dictionaries of tensors, layers, PyLayers,
    optimizers and ``to_static`` functions.
    """

    def __init__(self) -> None:
        self._found = _bindings()

    def changed(self) -> list[str]:
        """Return the places whose binding was changed, removed or added."""
        now = _bindings()
        nothing: Bound = {}
        places = []
        for owner in {**self._found, **now}:
            before, after = self._found.get(owner, nothing), now.get(owner, nothing)
            if before is not after:
                places += [f"{owner} {name}" for name in _differing(before, after)]
        return places


def _differing(before: Bound, after: Bound) -> list[str]:
    missing = object()
    changed = [name for name, value in before.items() if after.get(name, missing) is not value]
    # A module that was imported in the meantime may bind op functions, but no replacements of
    # them.
    return changed + [
        name
        for name, value in after.items()
        if name not in before and id(value) not in _OP_FUNCTIONS
    ]


def _bindings() -> dict[str, Bound]:
    found = {
        f"module {name}": _of_ops(name, vars(module))
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
    }
    found["core.eager"] = dict(vars(core.eager))
    for owner in (*_CLASSES, *_subclasses(paddle.optimizer.Optimizer)):
        found[f"{owner!r}"] = {
            name: value
            for name, value in vars(owner).items()
            if name not in {"__doc__", "__abstractmethods__", "_abc_impl"}
        }
    return found


def _of_ops(module: str, names: Bound) -> Bound:
    """Return a module's op functions and their wrappers.

    While nothing in the module changes, this is the same object. Thousands of tests ask.
    """
    state = hash(tuple(map(id, list(names.values()))))
    if module not in _searched or _searched[module][0] != state:
        bound = {name: value for name, value in list(names.items()) if _is_op_function(value)}
        _searched[module] = state, bound
    return _searched[module][1]


def _is_op_function(value: Any) -> bool:
    return id(value) in _OP_FUNCTIONS or (
        isinstance(value, FunctionType) and _encloses_op_function(value)
    )


def _encloses_op_function(function: FunctionType) -> bool:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a variable that has no value yet
            if id(cell.cell_contents) in _OP_FUNCTIONS:
                return True
    return False


def _subclasses(owner: type) -> Iterator[type]:
    pending = owner.__subclasses__()
    while pending:
        subclass = pending.pop()
        pending.extend(subclass.__subclasses__())
        yield subclass
