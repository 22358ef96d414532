"""Hooks around ops: ``paddle._C_ops`` functions and the operators of ``paddle.Tensor``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_detached
from paddle_lab.capture.evidence.events.noting import Call, noted
from paddle_lab.capture.hooks.op_wrapper import OpWrapping
from paddle_lab.capture.hooks.patches import AttributePatch, FunctionPatch, Patch
from paddle_lab.capture.recorder.recorder import Recorder

# Methods of paddle.Tensor that run ops in C++. All other methods call paddle._C_ops in Python, or
# run no op. They were found by comparing Paddle's own log with the recorded calls.
_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
}
_TENSOR_METHODS = {
    **{f"__{side}{name}__": op for name, op in _ARITHMETIC.items() for side in ("", "r")},
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__lt__": "less_than",
    "__le__": "less_equal",
    "__gt__": "greater_than",
    "__ge__": "greater_equal",
    "clone": "clone",
    "to_sparse_csr": "sparse_to_sparse_csr",
}

# These names are in the door's table. The methods run no op, and return a new object with the same
# value.
_ALIASING_METHODS = ("use_gpudnn", "new_shared_tensor")
_INDEXING_METHODS = ("getitem", "setitem")


class OpHooks(OpWrapping):
    """The wrappers of all ops, made once per process."""

    def __init__(self, tensor_type: type) -> None:
        super().__init__(tensor_type)
        functions = [
            function
            for module in (DOOR.eager_ops, DOOR.pir_ops, DOOR.legacy_ops)
            for name, function in vars(module).items()
            if callable(function) and not name.startswith("__")
        ]
        self._functions = FunctionPatch(functions, lambda one: self.wrap(one, one.__name__))

    def patches(self) -> list[Patch]:
        """Return the patches that make every eager op report to the open recorders."""
        self._functions.find()
        methods: list[Patch] = [
            AttributePatch(self._tensor_type, attribute, self._around_method(name))
            for attribute, name in _TENSOR_METHODS.items()
            if hasattr(self._tensor_type, attribute)
        ]
        methods += [
            # ``contiguous`` copies a tensor that is not contiguous.
            noted((self._tensor_type, "contiguous"), _note_alias, copies=True),
            noted((self._tensor_type, "detach"), _note_detach),
        ]
        if DOOR.has("indexing"):
            methods += [DOOR.patch(name, self._around_method(name)) for name in _INDEXING_METHODS]
        if DOOR.has("aliases"):
            methods += [noted(name, _note_alias, copies=True) for name in _ALIASING_METHODS]
        return [self._functions, *methods]

    def _around_method(self, name: str) -> Callable[[Any], Callable[..., Any]]:
        return lambda method: self.wrap(method, name, is_method=True)


def _note_alias(recorder: Recorder, call: Call) -> None:
    recorder.tensors.alias(call.result, call.args[0])


def _note_detach(recorder: Recorder, call: Call) -> None:
    recorder.tensors.detach(call.args[0], call.result)
    note_detached(recorder, call.frame, call.args[0], call.result)
