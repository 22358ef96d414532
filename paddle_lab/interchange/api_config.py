"""The distinct calls of a trace as lines of ``FLAGS_trace_api``, which PaddleAPITest runs.

A line is ``paddle.concat(list[Tensor([2, 3],"float32"),Tensor([2, 3],"float32"),], axis=0, )``. A
trace has the calls of Paddle's ops, not of the functions around them. So a line has the name of the
public API only if this API passes its arguments on unchanged. Otherwise it has the name of the op:
``paddle._C_ops.dropout``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from paddle_lab.analysis.cost.call import Call, Operand, argument_texts, is_open
from paddle_lab.analysis.cost.distinct_calls import distinct_calls
from paddle_lab.trace.record import Record

_FUNCTIONAL: Final = "paddle.nn.functional."
_OF_LAYERS: Final = frozenset({
    "elu", "gelu", "grid_sample", "linear", "log_sigmoid", "log_softmax", "mish", "relu", "relu6",
    "silu", "softmax", "softplus", "softsign", "swiglu", "tanh_shrink",
})  # fmt: skip
"""Ops whose public API is in ``paddle.nn.functional``."""
_UNCHANGED: Final = _OF_LAYERS - {"tanh_shrink", "log_sigmoid", "softplus"} | {
    "add", "subtract", "divide", "cast", "concat", "erf", "flatten", "gather_nd", "pow",
    "reciprocal", "reshape", "square", "squeeze", "stack", "transpose", "unsqueeze", "where",
}  # fmt: skip
"""Ops that have the name, the parameters and the meaning of their public API."""
_CONV2D: Final = {
    "input": "x", "filter": "weight", "strides": "stride", "paddings": "padding",
    "dilations": "dilation", "groups": "groups", "data_format": "data_format",
}  # fmt: skip
_OPERATORS: Final = {
    "add": "__add__", "multiply": "__mul__", "equal": "__eq__", "not_equal": "__ne__",
    "less_than": "__lt__", "less_equal": "__le__", "greater_than": "__gt__",
    "greater_equal": "__ge__",
}  # fmt: skip
"""Operators whose operands may change places, or that Python itself turns round: for the others,
``1 - x`` and ``x - 1`` look the same in a trace."""
_INDEXING: Final = {"getitem": "__getitem__", "setitem": "__setitem__"}
_BY_VALUE: Final = frozenset({"arange", "linspace", "logspace"})
"""Ops of which tensors are the bounds: what they compute depends on values, not on shapes."""
_NOT_GIVEN: Final = ("out=None", "name=None")
_MOST_ITEMS: Final = 32  # longer lists are cut short in a trace
_NAMED: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z0-9._+-]+")


class _Parameter(NamedTuple):
    kind: str
    name: str


_LINEAR: Final = [_Parameter("Tensor", name) for name in ("x", "weight", "bias")]
"""Paddle's headers do not declare this op."""


class _UnknownError(Exception):
    """The trace does not contain an argument of the call."""


def api_config(record: Record) -> str:
    """Return a line for each distinct call of an op whose arguments are all in the record.

    Parameters
    ----------
    record
        The tables of a trace.
    """
    told = record.op_signatures
    signatures = {
        record.text(op): [_Parameter(*one.rsplit(" ", 1)) for one in record.text(text).split("; ")]
        for op, text in zip(told["op"].tolist(), told["parameters"].tolist(), strict=True)
    }
    signatures.setdefault("linear", _LINEAR)
    calls, of_op, raised = distinct_calls(record)
    is_pylayer = np.zeros(len(calls), bool)
    is_pylayer[of_op[record.ops["is_pylayer"] != 0]] = True
    lines = dict[str, None]()
    for call, is_left_out in zip(calls, (raised | is_pylayer).tolist(), strict=True):
        if not is_left_out:
            lines.update((line, None) for line in _lines(call, signatures.get(call.name, [])))
    return "".join(f"{line}\n" for line in lines)


def _lines(call: Call, parameters: list[_Parameter]) -> Iterator[str]:
    texts = [one for one in argument_texts(call.attributes) if one not in _NOT_GIVEN]
    is_known = all(one.dtype and not is_open(one.shape) for one in call.read)
    is_sparse = call.name.startswith("sparse_")
    if not is_known or is_sparse or call.name in _BY_VALUE or "…" in call.attributes:
        return
    try:
        if call.name in _INDEXING:
            yield _line(f"paddle.Tensor.{_INDEXING[call.name]}", _indexing(call, texts))
        elif call.name in _OPERATORS and len(call.read) == len(texts) == 1:
            arguments = [_tensor(call.read[0]), _argument(texts[0])]
            yield _line(f"paddle.Tensor.{_OPERATORS[call.name]}", arguments)
        elif parameters:
            yield _op_line(call, parameters, texts)
    except _UnknownError:
        return


def _op_line(call: Call, parameters: list[_Parameter], texts: list[str]) -> str:
    if call.name == "einsum":
        tensors = [_tensor(one) for one in call.read]
        return _line("paddle.einsum", [f'"{call.attribute("equation")}"', *tensors])
    if parameters is _LINEAR:
        texts = []  # "None" without a bias
    given = _given(call, parameters, texts)
    # If an op is itself the public API, Paddle declares it in Python.
    takes_keywords = parameters[-1] == _Parameter("", "name")
    if call.name == "conv2d" and given.get("padding_algorithm") == '"EXPLICIT"':
        del given["padding_algorithm"]
        given = {_CONV2D[name]: text for name, text in given.items()}
        return _line(f"{_FUNCTIONAL}conv2d", [], given)
    if takes_keywords or call.name in _UNCHANGED:
        home = _FUNCTIONAL if call.name in _OF_LAYERS else "paddle."
        first = parameters[0].name
        return _line(home + call.name, [given.pop(first)] if first in given else [], given)
    return _line(f"paddle._C_ops.{call.name}", list(given.values()))


def _given(call: Call, parameters: list[_Parameter], texts: list[str]) -> dict[str, str]:
    """Return the arguments of a call, by the names of the parameters, in order."""
    given, left = {}, list(texts)
    for slot, parameter in enumerate(parameters):
        tensors = [_tensor(one) for one in call.read if one.slot == slot]
        named = _NAMED.fullmatch(left[0]) if left else None
        if tensors:
            is_list = "vector<Tensor>" in parameter.kind
            # If a tensor stands for a number or a shape, its value is not in the record.
            if "Tensor" not in parameter.kind or (len(tensors) > 1 and not is_list):
                raise _UnknownError
            given[parameter.name] = _list(tensors) if is_list else tensors[0]
        elif named and named[1] == parameter.name:
            given[parameter.name] = _argument(named[2])
            del left[0]
        elif parameter.kind not in ("", "Tensor") and any(one.slot > slot for one in call.read):
            raise _UnknownError
    if left or any(one.slot >= len(parameters) for one in call.read):
        raise _UnknownError
    return given


def _indexing(call: Call, texts: list[str]) -> list[str]:
    """Return the tensor, the index, and the value that is assigned."""
    tensors = [one for one in call.read if one.slot != 1]
    if len(tensors) < len(call.read) or not texts:
        raise _UnknownError  # numbers beside a tensor in an index are not known
    index, *value = texts
    is_tuple = index.startswith("[") and ("," in index and (":" in index or "..." in index))
    if index.startswith("[") and not is_tuple:
        raise _UnknownError  # ``x[[0, 1]]`` and ``x[0, 1]`` look the same in a trace
    text = "tuple(" + "".join(f"{_index(one)}," for one in argument_texts(index[1:-1])) + ")"
    arguments = [_tensor(tensors[0]), text if is_tuple else _index(index)]
    return [*arguments, *map(_tensor, tensors[1:]), *map(_argument, value)]


def _index(text: str) -> str:
    if ":" not in text:
        return "Ellipsis" if text == "..." else _argument(text)
    bounds = [str(int(one)) if one.lstrip("-").isdigit() else one for one in text.split(":")]
    if any(one and not one.lstrip("-").isdigit() for one in bounds):
        raise _UnknownError
    return f"slice({','.join(one or 'None' for one in [*bounds, ''][:3])})"


def _tensor(operand: Operand) -> str:
    return f'Tensor({list(operand.shape)},"{operand.dtype}")'


def _list(texts: list[str]) -> str:
    return "list[" + "".join(f"{text}," for text in texts) + "]"


def _argument(text: str) -> str:
    """Return an argument in the format of PaddleAPITest."""
    if text.startswith("["):
        parts = argument_texts(text[1:-1])
        if len(parts) >= _MOST_ITEMS:
            raise _UnknownError
        return _list([_argument(part) for part in parts])
    if text.startswith("paddle."):
        return f"Dtype({text.removeprefix('paddle.')})"
    if text.startswith("Place("):
        return text
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", "math.inf").replace("nan", "math.nan")
    try:
        value: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise _UnknownError from None
    if isinstance(value, str) and _WORD.fullmatch(value):
        return f'"{value}"'
    if isinstance(value, complex) and math.isfinite(abs(value)):
        return f"complex({value.real},{value.imag})"
    if value is None or isinstance(value, (bool, int, float)):
        return text
    raise _UnknownError


def _line(api: str, arguments: list[str], keywords: dict[str, str] | None = None) -> str:
    named = [f"{name}={text}" for name, text in (keywords or {}).items()]
    return f"{api}({''.join(f'{one}, ' for one in [*arguments, *named])})"
