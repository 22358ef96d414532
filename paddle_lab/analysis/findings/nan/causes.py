"""Explains why an op made NaN or Inf, from the op's name and inputs, and gives advice."""

from __future__ import annotations

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.nan.numbers import TensorNumbers
from paddle_lab.analysis.tables.values import Value
from paddle_lab.words import Text

_LOGARITHMS = frozenset(("log", "log2", "log10", "log1p"))
_QUOTIENTS = frozenset(("divide", "reciprocal", "remainder", "floor_divide", "rsqrt"))
_POWERS = frozenset(("pow", "elementwise_pow"))
_ROOTS = frozenset(("sqrt", "rsqrt", "p_norm", "frobenius_norm", "dist"))
_ARCS = frozenset(("acos", "asin", "atanh"))
_PARTIAL = _LOGARITHMS | _ARCS | _POWERS | {"sqrt", "rsqrt"}
"""Ops that are undefined or infinite for some numbers."""
_EXPONENTIALS = frozenset(("exp", "expm1", "cosh", "sinh"))
_SOFTMAXES = ("softmax", "logsumexp", "attn", "attention")
_LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4e38, "float64": 1.8e308}
_MUCH = 1e-3
"""Times the square root of a dtype's largest number: products of larger numbers may overflow."""

Cause = tuple[Text | None, Text | None]
"""The reason as a clause of a sentence, and the advice; None if unknown."""


def cause_in_forward(facts: Facts, numbers: TensorNumbers, op: int, *, is_nan: bool) -> Cause:
    """Return why an op made NaN or Inf, judged by its inputs."""
    name, given = facts.op_name(op).rstrip("_"), _given(facts, numbers, op)
    if any(0 in facts.shape(tensor) for tensor in facts.inputs(op)):
        return _cause("empty", "empty")
    if not given:
        return None, None
    if any(one.infs for one in given):
        is_softmax = any(word in name for word in _SOFTMAXES)
        return _cause("inf_row", "softmax") if is_softmax else _cause("inf")
    if name in _QUOTIENTS and given[-1].zeros:
        return _cause("divided", "divide", zeros=_zeros(given[-1]))
    if name in _LOGARITHMS - {"log1p"} and given[0].zeros and given[0].smallest >= 0:
        return _cause("log_of_0", "log", name=name, zeros=_zeros(given[0]))
    if name in _PARTIAL and (is_nan or given[0].zeros or name not in _POWERS):
        smallest, largest = (f"{one:.3g}" for one in (given[0].smallest, given[0].largest))
        advice = "log" if name in _LOGARITHMS else "domain"
        return _cause("domain", advice, name=name, smallest=smallest, largest=largest)
    dtypes = (facts.dtype(tensor) for tensor in facts.outputs(op))
    dtype = next((dtype for dtype in dtypes if dtype in _LARGEST), "")
    largest_given, end = max(one.magnitude for one in given), _LARGEST.get(dtype, 0.0)
    is_near_end = name in _EXPONENTIALS or largest_given > _MUCH * end**0.5
    if dtype and largest_given and (is_near_end or dtype == "float16"):
        advice = "half" if dtype == "float16" else "overflow"
        key, shown = "exp" if name in _EXPONENTIALS else "large", f"{largest_given:.3g}"
        return _cause(key, advice, name=name, largest=shown, dtype=dtype, end=f"{end:.3g}")
    return None, None


def cause_in_backward(facts: Facts, numbers: TensorNumbers, op: int) -> Cause:
    """Return why the backward of an op made NaN or Inf although its forward was finite."""
    name, given = facts.op_name(op).rstrip("_"), _given(facts, numbers, op)
    zeros = next((one for one in given if one.zeros), None)
    if name in _ROOTS | _POWERS and zeros is not None:
        return _cause("derivative_at_0", "root", name=name, zeros=_zeros(zeros))
    for names, advice in ((_QUOTIENTS, "divide"), (_LOGARITHMS, "log"), (_ARCS, "domain")):
        if name in names and given:
            return _cause("derivative_divides", advice)
    if any(one.infs for one in given):
        return _cause("inf", "softmax")
    is_half = any(facts.dtype(tensor) == "float16" for tensor in facts.outputs(op))
    return None, Text("findings.nan.advice.half") if is_half else None


def _cause(key: str, advice: str = "", **values: object) -> Cause:
    why = Text(f"findings.nan.because.{key}", **values)
    return why, Text(f"findings.nan.advice.{advice}") if advice else None


def _given(facts: Facts, numbers: TensorNumbers, op: int) -> list[Value]:
    found = (numbers.of(tensor, op) for tensor in facts.inputs(op))
    return [one for one in found if one is not None]


def _zeros(given: Value) -> Text:
    return Text("findings.nan.because.zeros", zeros=given.zeros, elements=given.elements)
