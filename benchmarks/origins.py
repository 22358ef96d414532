"""Whether ops introduced or inherited a difference: our answers against a replay by plain Paddle.

``python benchmarks/origins.py`` prints a Markdown table: a step in float32 against the same step
with the outputs of ops rounded to bfloat16, and how many answers agree. The replay shares no code
with Paddle Lab: it wraps Paddle's functions, copies what each call reads and returns, and calls
each function again on float64 copies, with the inputs of both runs.
"""

# ruff: noqa: SLF001  (the stub of a less precise Paddle replaces Paddle's private functions)

from __future__ import annotations

import contextlib
import ctypes
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

NAMES = ("llama", "resnet18", "transformer", "lstm", "gan", "unet")
SOME_OPS = ("softmax", "silu", "batch_norm", "relu", "mean", "conv2d", "sigmoid", "adam_")
OPERATORS = {
    "add": "add", "radd": "add", "sub": "subtract", "rsub": "subtract", "mul": "multiply",
    "rmul": "multiply", "truediv": "divide", "rtruediv": "divide", "pow": "pow",
    "matmul": "matmul", "eq": "equal", "ne": "not_equal", "lt": "less_than", "le": "less_equal",
    "gt": "greater_than", "ge": "greater_equal", "floordiv": "floor_divide", "mod": "remainder",
}  # fmt: skip
"""Methods of tensors that run an op in C++, without an underscore, and the names of the ops."""

Array = np.ndarray[Any, Any]


class Call(NamedTuple):
    """A call of an op: its function, its arguments with arrays for tensors, and its outputs."""

    name: str
    function: Callable[..., Any]
    args: Any
    kwargs: Any
    random_state: Any
    made: list[Array]


@contextlib.contextmanager
def wrapped_ops(rounded: Collection[str] | None, calls: list[Call] | None) -> Iterator[None]:
    """Wrap every op of Paddle.

    Parameters
    ----------
    rounded
        The names of the ops whose outputs are rounded; ``None`` for all.
    calls
        Where to note each call; ``None`` to note none.
    """
    running: list[str] = []

    def wrapper(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        rounds = rounded is None or name in rounded
        return wrapped(name, function, rounds=rounds, calls=calls, running=running)

    ops = {
        id(function): wrapper(name, function)
        for name, function in vars(paddle._C_ops).items()
        if type(function) is type(len)
    }
    places = [
        (module, name, value, ops[id(value)])
        for module in list(sys.modules.values())
        for name, value in list(getattr(module, "__dict__", {}).items())
        if id(value) in ops
    ]
    for short, op in OPERATORS.items():
        method = getattr(paddle.Tensor, f"__{short}__")
        places.append((paddle.Tensor, f"__{short}__", method, wrapper(op, method)))
    for owner, name, _, replacement in places:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original, _ in places:
            setattr(owner, name, original)


def wrapped(
    name: str,
    function: Callable[..., Any],
    *,
    rounds: bool,
    calls: list[Call] | None,
    running: list[str],
) -> Callable[..., Any]:
    """Return a function that also rounds and records. Ops that it calls itself are unchanged."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if running:
            return function(*args, **kwargs)
        read = None
        if calls is not None:
            read = copied(args), copied(kwargs), paddle.get_rng_state("cpu")
        running.append(name)
        try:
            result = function(*args, **kwargs)
        finally:
            running.pop()
        if rounds:
            read_at = {one.data_ptr() for one in tensors_in((args, [*kwargs.values()]))}
            for one in tensors_in(result):
                if name.endswith("_") or one.data_ptr() not in read_at:  # not a view
                    round_to_bfloat16(one)
        if read is not None and calls is not None:
            calls.append(Call(name, function, *read, list(map(array_of, tensors_in(result)))))
        return result

    call.__name__ = function.__name__
    return call


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors with values among arguments or results."""
    if isinstance(value, paddle.Tensor):
        return [value] if value._is_initialized() else []
    return [one for part in value for one in tensors_in(part)] if is_several(value) else []


def is_several(value: Any) -> bool:
    """Tell whether a value is a list or a tuple."""
    return isinstance(value, (list, tuple))


def copied(value: Any, copy: Callable[[Any], Any] | None = None) -> Any:
    """Return arguments with a copy of each tensor as an array, or with ``copy`` of each array."""
    if isinstance(value, np.ndarray if copy else paddle.Tensor):
        if copy:
            return copy(value)
        return array_of(value) if value._is_initialized() else value
    if is_several(value):
        return type(value)(copied(one, copy) for one in value)
    if isinstance(value, dict):
        return {key: copied(one, copy) for key, one in value.items()}
    return value


def array_of(tensor: Any) -> Array:
    """Return a copy of a tensor's values."""
    return np.array(tensor.detach().numpy())


def round_to_bfloat16(tensor: Any) -> None:
    """Round a float32 tensor in place to the nearest bfloat16, ties to even."""
    if tensor.dtype == paddle.float32 and tensor.is_contiguous() and tensor.size:
        memory = (ctypes.c_uint32 * int(tensor.size)).from_address(tensor.data_ptr())
        bits = np.frombuffer(memory, np.uint32)
        bits[:] = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000


def in_float64(call: Call) -> list[Array]:
    """Return the outputs of a call that runs again in float64."""

    def wide(array: Array) -> Any:
        return paddle.to_tensor(array.astype("f8") if array.dtype == np.float32 else array)

    with paddle.no_grad():
        args, kwargs = copied(call.args, wide), copied(call.kwargs, wide)
        paddle.set_rng_state(call.random_state, "cpu")
        return list(map(array_of, tensors_in(call.function(*args, **kwargs))))


def answer(a: Call, b: Call) -> str:
    """Return where most of the difference of two calls' outputs comes from."""
    made = came = 0.0
    for x, y, exact_a, exact_b in zip(a.made, b.made, in_float64(a), in_float64(b), strict=True):
        if x.dtype.kind == "f" and x.size:
            unit = float(np.linalg.norm(x.astype("f8"))) or 1.0
            error_a, error_b = difference(x, exact_a), difference(y, exact_b)
            came = max(came, size(difference(exact_b, exact_a)) / unit)
            made = max(made, size(error_b - error_a) / unit)
    return "introduced" if made >= came else "inherited"


def difference(one: Array, other: Array) -> Array:
    """Return a difference. It is 0 where both values are equal or NaN."""
    is_same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(is_same, 0, one - other)


def size(values: Array) -> float:
    """Return the norm of values; infinite if one is NaN."""
    return float(np.nan_to_num(np.linalg.norm(values), nan=np.inf))


def row(name: str, some: Collection[str] | None) -> str:
    """Compare one model's step, and return the row of the table."""
    import paddle_lab
    from paddle_lab.capture.hooks.hooks import HOOKS
    from tests.models import MODELS

    calls: list[list[Call]] = [[], []]
    traces = []
    for noted, rounded in zip(calls, ((), some), strict=True):
        step = MODELS[name]()
        with wrapped_ops(rounded, noted):
            step()
        step = MODELS[name]()
        HOOKS._op_hooks = None  # they are made once, from the ops that there are then
        with (
            wrapped_ops(rounded, None),
            paddle_lab.trace(digest="all", replay=True, check="none") as trace,
            paddle_lab.region("all"),
        ):
            step()
        HOOKS._op_hooks = None
        traces.append(trace)
    compared = paddle_lab.compare(*traces).rows
    rows = [one for one in compared if one.name not in ("getitem", "setitem")]
    assert [one.name for one in rows] == [call.name for call in calls[1]], name
    agreeing = {"introduced": 0, "inherited": 0}
    total = {"introduced": 0, "inherited": 0}
    for one, a, b in zip(rows, *calls, strict=True):
        if any(x.tobytes() != y.tobytes() for x, y in zip(a.made, b.made, strict=True)):
            origin = answer(a, b)
            total[origin] += 1
            agreeing[origin] += one.origin == origin
            if one.origin != origin:
                print("   ", one, one.origin or "?", origin, file=sys.stderr)
        elif one.state != "equal":
            print("   ", one, one.origin or "?", "equal", file=sys.stderr)
    differing, share = sum(total.values()), sum(agreeing.values()) / max(sum(total.values()), 1)
    counts = " | ".join(f"{agreeing[kind]} of {total[kind]}" for kind in total)
    what = "all" if some is None else "some"
    return f"| {name} | {what} | {len(rows)} | {differing} | {counts} | {share:.1%} |"


def main() -> None:
    """Print the table."""
    print("| model | rounded ops | ops | differ | introduced | inherited | agree |")
    print("|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or NAMES:
        for some in (None, SOME_OPS):
            print(row(name, some), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
