"""Hooks around ops: ``paddle._C_ops`` functions and the operators of ``paddle.Tensor``."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.events.gradient_stops import note_detached
from paddle_lab.capture.hooks.copy_hooks import noting_copies
from paddle_lab.capture.hooks.op_wrapper import OpWrapping
from paddle_lab.capture.hooks.patches import AttributePatch, FunctionPatch
from paddle_lab.capture.recorder.faults import attempt
from paddle_lab.capture.recorder.sinks import SINKS

# Method descriptors of paddle.Tensor that run ops in C++; all other methods are Python over
# paddle._C_ops, or run no op. Found by comparing Paddle's own log with the interposed calls.
_TENSOR_METHODS = {
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "subtract",
    "__rsub__": "subtract",
    "__mul__": "multiply",
    "__rmul__": "multiply",
    "__div__": "divide",
    "__truediv__": "divide",
    "__rdiv__": "divide",
    "__rtruediv__": "divide",
    "__floordiv__": "floor_divide",
    "__rfloordiv__": "floor_divide",
    "__mod__": "remainder",
    "__rmod__": "remainder",
    "__pow__": "pow",
    "__rpow__": "pow",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__eq__": "equal",
    "__ne__": "not_equal",
    "__lt__": "less_than",
    "__le__": "less_equal",
    "__gt__": "greater_than",
    "__ge__": "greater_equal",
    "clone": "clone",
    "to_sparse_csr": "sparse_to_sparse_csr",
}

# Names at the door. These method descriptors run no op and return another object for the value.
_ALIASING_METHODS = ("use_gpudnn", "new_shared_tensor")
_INDEXING_METHODS = ("getitem", "setitem")


class OpHooks:
    """The wrappers of all ops, made once a process.

    Parameters
    ----------
    paddle
        The paddle module.
    """

    def __init__(self, paddle: Any) -> None:
        self._tensor_type = paddle.Tensor
        self._wrapping = OpWrapping(paddle.Tensor)
        self.listen_for = self._wrapping.listen_for
        functions = [
            function
            for module in (DOOR.eager_ops, DOOR.pir_ops, DOOR.legacy_ops)
            for name, function in vars(module).items()
            if callable(function) and not name.startswith("__")
        ]
        self._functions = FunctionPatch(
            functions, lambda function: self._wrapping.wrap(function, function.__name__)
        )

    def patches(self) -> list[FunctionPatch | AttributePatch]:
        """Return the patches that make every eager op call the open recorders."""
        self._functions.find()
        methods = [
            AttributePatch(self._tensor_type, attribute, self._around_method(name))
            for attribute, name in _TENSOR_METHODS.items()
            if hasattr(self._tensor_type, attribute)
        ]
        methods += [
            AttributePatch(self._tensor_type, "contiguous", _around_alias),
            AttributePatch(self._tensor_type, "detach", _around_detach),
        ]
        if DOOR.has("indexing"):
            methods += [DOOR.patch(name, self._around_method(name)) for name in _INDEXING_METHODS]
        if DOOR.has("aliases"):
            methods += [DOOR.patch(name, _around_alias) for name in _ALIASING_METHODS]
        return [self._functions, *methods]

    def _around_method(self, name: str) -> Callable[[Any], Callable[..., Any]]:
        return lambda method: self._wrapping.wrap(method, name, is_method=True)


def _around_alias(native: Any) -> Callable[..., Any]:
    method = noting_copies(native)  # what is not contiguous is copied

    def alias(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(tensor, *args, **kwargs)
        for recorder in SINKS.active:
            attempt(recorder, recorder.tensors.alias, result, tensor)
        return result

    alias.__name__ = native.__name__
    alias.__doc__ = getattr(native, "__doc__", None)
    alias.__wrapped__ = native  # type: ignore[attr-defined]
    return alias


def _around_detach(method: Any) -> Callable[..., Any]:
    def detach(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(tensor, *args, **kwargs)
        for recorder in SINKS.active:
            attempt(recorder, recorder.tensors.detach, tensor, result)
            attempt(recorder, note_detached, recorder, _getframe(1), tensor, result)
        return result

    detach.__doc__ = getattr(method, "__doc__", None)
    detach.__wrapped__ = method  # type: ignore[attr-defined]
    return detach
