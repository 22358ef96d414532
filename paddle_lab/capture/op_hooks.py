"""Hooks around ops: ``paddle._C_ops`` functions and the operators of ``paddle.Tensor``."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from time import perf_counter_ns
from typing import Any

from paddle_lab.capture.patches import AttributePatch, FunctionPatch
from paddle_lab.capture.sinks import SINKS
from paddle_lab.capture.tensors import NO_KEY

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
    "_getitem_dygraph": "getitem",
    "_setitem_dygraph": "setitem",
    "clone": "clone",
}
# Method descriptors that run no op and return another object for the same value.
_ALIASING_METHODS = ("contiguous", "_use_gpudnn")


def op_patches(paddle: Any) -> list[FunctionPatch | AttributePatch]:
    """Return the patches that make every eager op call the open recorders."""
    core = paddle.base.core
    functions = [
        function
        for module in (core.eager.ops, core.pir.ops, core.eager.ops.legacy)
        for name, function in vars(module).items()
        if callable(function) and not name.startswith("__")
    ]
    tensor_type = paddle.Tensor
    patches: list[FunctionPatch | AttributePatch] = [
        FunctionPatch(functions, lambda function: _around(function, function.__name__, tensor_type))
    ]
    for attribute, name in _TENSOR_METHODS.items():
        if hasattr(tensor_type, attribute):
            patches.append(
                AttributePatch(
                    tensor_type,
                    attribute,
                    lambda method, name=name: _around(method, name, tensor_type),
                )
            )
    patches.append(AttributePatch(tensor_type, "detach", _around_detach))
    patches += [
        AttributePatch(tensor_type, attribute, _around_alias)
        for attribute in _ALIASING_METHODS
        if hasattr(tensor_type, attribute)
    ]
    return patches


def _around(function: Any, name: str, tensor_type: type) -> Callable[..., Any]:
    def op(*args: Any, **kwargs: Any) -> Any:
        active = SINKS.active
        if not active:
            return function(*args, **kwargs)
        if len(active) > 1:
            return _run_for_all(function, name, tensor_type, args, kwargs)
        recorder = active[0]
        resolved = recorder.begin_op(args, kwargs)
        start_ns = perf_counter_ns()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            if not _is_end_of_iteration(name, error):
                recorder.fail_op(name, resolved, start_ns, perf_counter_ns(), _getframe(1))
            raise
        end_ns = perf_counter_ns()
        if type(result) is tensor_type or _ran_eagerly(result, resolved[0], tensor_type):
            recorder.end_op(name, args, resolved, result, start_ns, end_ns, _getframe(1))
        return result

    op.__name__ = op.__qualname__ = getattr(function, "__name__", name)
    op.__doc__ = getattr(function, "__doc__", None)
    op.__wrapped__ = function  # type: ignore[attr-defined]
    return op


def _run_for_all(
    function: Any, name: str, tensor_type: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Do what ``op`` does, for the recorders of traces inside traces."""
    active = SINKS.active
    frame = _getframe(2)
    resolved = [recorder.begin_op(args, kwargs) for recorder in active]
    start_ns = perf_counter_ns()
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        end_ns = perf_counter_ns()
        if not _is_end_of_iteration(name, error):
            for recorder, inputs in zip(active, resolved, strict=True):
                recorder.fail_op(name, inputs, start_ns, end_ns, frame)
        raise
    end_ns = perf_counter_ns()
    if _ran_eagerly(result, resolved[0][0], tensor_type):
        for recorder, inputs in zip(active, resolved, strict=True):
            recorder.end_op(name, args, inputs, result, start_ns, end_ns, frame)
    return result


def _ran_eagerly(result: Any, inputs: list[int], tensor_type: type) -> bool:
    """Tell an op that ran from one that only joined a static program (its values are no tensors).

    Comparisons may also answer ``NotImplemented`` or a plain ``False``: no op ran then.
    """
    if isinstance(result, tensor_type):
        return True
    if result is None:
        return bool(inputs)
    if isinstance(result, (tuple, list)):
        return bool(inputs) or any(isinstance(value, tensor_type) for value in result)
    return False


def _is_end_of_iteration(name: str, error: BaseException) -> bool:
    # ``for row in tensor`` asks for one row more than there is.
    return name == "getitem" and isinstance(error, IndexError)


def _around_alias(method: Any) -> Callable[..., Any]:
    def alias(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(tensor, *args, **kwargs)
        for recorder in SINKS.active:
            recorder.tensors.alias(result, tensor)
        return result

    alias.__name__ = method.__name__
    alias.__doc__ = getattr(method, "__doc__", None)
    alias.__wrapped__ = method  # type: ignore[attr-defined]
    return alias


def _around_detach(method: Any) -> Callable[..., Any]:
    def detach(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(tensor, *args, **kwargs)
        for recorder in SINKS.active:
            source = recorder.tensors.key_of(tensor)
            recorder.tensors.produce(result, NO_KEY, detached_from=source)
        return result

    detach.__doc__ = getattr(method, "__doc__", None)
    detach.__wrapped__ = method  # type: ignore[attr-defined]
    return detach
