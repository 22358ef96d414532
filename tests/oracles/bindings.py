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


class Bindings:
    """A snapshot of who is bound where, taken when this is made.

    Covered are all module-level bindings of Paddle's op functions in every loaded module, all of
    ``core.eager``, and the class dictionaries of tensors, layers, PyLayers,
    optimizers and ``to_static`` functions.
    """

    def __init__(self) -> None:
        self._found = dict(_bindings())

    def changed(self) -> list[str]:
        """Return the places whose binding was changed, removed or added."""
        now = dict(_bindings())
        missing = object()
        changed = [
            place for place, value in self._found.items() if now.get(place, missing) is not value
        ]
        # A module that was imported in the meantime may bind op functions, but no replacements of
        # them.
        added = [
            place for place in now if place not in self._found and not place.startswith("module ")
        ]
        return changed + added


def _bindings() -> Iterator[tuple[str, Any]]:
    for module_name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType):
            continue
        for name, value in list(vars(module).items()):
            if id(value) in _OP_FUNCTIONS:
                yield f"module {module_name} {name}", value
            elif isinstance(value, FunctionType) and _encloses_op_function(value):
                yield f"wrapper {module_name} {name}", value
    for name, value in vars(core.eager).items():
        yield f"core.eager . {name}", value
    for owner in (*_CLASSES, *_subclasses(paddle.optimizer.Optimizer)):
        for name, value in vars(owner).items():
            if name not in {"__doc__", "__abstractmethods__", "_abc_impl"}:
                yield f"{owner!r} {name}", value


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
