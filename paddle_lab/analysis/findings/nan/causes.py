"""Why an op made NaN or Inf, told from its name and from what it was given; and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.nan.numbers import Numbers, TensorNumbers
from paddle_lab.words import Text

_LOGARITHMS = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
_QUOTIENTS = frozenset(("divide", "reciprocal", "remainder", "floor_divide", "rsqrt"))
_POWERS = frozenset(("pow", "elementwise_pow"))
_ROOTS = frozenset(("sqrt", "rsqrt", "p_norm", "frobenius_norm", "dist"))
_EXPONENTIALS = frozenset(("exp", "expm1", "cosh", "sinh"))
_ARCS = {"acos": 1.0, "asin": 1.0, "atanh": 1.0}
_SOFTMAXES = ("softmax", "logsumexp", "attn", "attention")
_LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4e38, "float64": 1.8e308}
_MUCH = 1e-3
"""Of the root of what a type holds: products of such numbers come close to its end."""


@dataclass(frozen=True)
class Cause:
    """Why it happened, as a clause of a sentence; none where it cannot be told."""

    text: Text | None = None
    advice: Text | None = None


def cause_in_forward(facts: Facts, numbers: TensorNumbers, op: int, *, is_nan: bool) -> Cause:
    """Return why an op made NaN or Inf of what it was given."""
    name = facts.op_name(op).rstrip("_")
    if any(0 in facts.shape(tensor) for tensor in facts.inputs(op)):
        return _cause("empty", "empty")
    given = _given(facts, numbers, op)
    if not given:
        return Cause()
    if any(one.infs for one in given):
        is_softmax = any(word in name for word in _SOFTMAXES)
        return _cause("inf_row", "softmax") if is_softmax else _cause("inf")
    if name in _QUOTIENTS and given[-1].zeros:
        return _cause("divided", "divide", zeros=_zeros(given[-1]))
    if name in _LOGARITHMS:
        return _logarithm(name, given[0])
    if name in ("sqrt", "rsqrt"):
        return _outside_domain("negative", name, given[0])
    if name in _POWERS and (is_nan or given[0].zeros):
        if given[0].smallest < 0:
            return _outside_domain("negative", "pow", given[0])
        return _cause("power", "divide", zeros=_zeros(given[0]))
    if name in _ARCS:
        return _outside_domain("arc", name, given[0])
    return _overflow(facts, name, op, given)


def _logarithm(name: str, given: Numbers) -> Cause:
    least, smallest = _LOGARITHMS[name], given.smallest
    shown = f"{least:g}"
    if smallest < least:
        return _cause("log_of_less", "log", name=name, least=shown, smallest=_number(smallest))
    if least == 0:
        return _cause("log_of_0", "log", name=name, zeros=_zeros(given))
    return _cause("log_of", "log", name=name, least=shown)


def _outside_domain(key: str, name: str, given: Numbers) -> Cause:
    smallest, largest = _number(given.smallest), _number(given.largest)
    return _cause(key, "domain", name=name, smallest=smallest, largest=largest)


def cause_in_backward(facts: Facts, numbers: TensorNumbers, op: int) -> Cause:
    """Return why the backward of an op made NaN or Inf, though its forward was finite."""
    name = facts.op_name(op).rstrip("_")
    given = _given(facts, numbers, op)
    zeros = next((one for one in given if one.zeros), None)
    if (name in _ROOTS or name in _POWERS) and zeros is not None:
        return _cause("derivative_at_0", "root", name=name, zeros=_zeros(zeros))
    if name in _QUOTIENTS and given:
        return _cause("derivative_divides", "divide")
    if name in _LOGARITHMS and given:
        return _cause("derivative_divides", "log")
    if name in _ARCS and given and given[0].magnitude >= _ARCS[name]:
        return _cause("derivative_of_arc", "domain", name=name)
    if any(one.infs for one in given):
        return _cause("inf", "softmax")
    if any(facts.dtype(tensor) == "float16" for tensor in facts.outputs(op)):
        return Cause(advice=Text("findings.nan.advice.half"))
    return Cause()


def _overflow(facts: Facts, name: str, op: int, given: list[Numbers]) -> Cause:
    dtypes = [facts.dtype(tensor) for tensor in facts.outputs(op)]
    dtype = next((dtype for dtype in dtypes if dtype in _LARGEST), "")
    largest = max(one.magnitude for one in given)
    if not dtype or not largest:
        return Cause()
    end, advice = _LARGEST[dtype], "half" if dtype == "float16" else "overflow"
    if name in _EXPONENTIALS:
        return _cause("exp", advice, name=name, largest=_number(largest), dtype=dtype)
    if largest > _MUCH * end**0.5 or dtype == "float16":
        return _cause("large", advice, largest=_number(largest), dtype=dtype, end=_number(end))
    return Cause()


def _cause(key: str, advice: str = "", **values: object) -> Cause:
    why = Text(f"findings.nan.because.{key}", **values)
    return Cause(why, Text(f"findings.nan.advice.{advice}") if advice else None)


def _given(facts: Facts, numbers: TensorNumbers, op: int) -> list[Numbers]:
    found = (numbers.of(tensor, op) for tensor in facts.inputs(op))
    return [one for one in found if one is not None]


def _zeros(given: Numbers) -> Text:
    share = f"{given.zeros / given.elements:.0%}"
    key = "findings.nan.because.zeros" if share == "0%" else "findings.nan.because.zeros_share"
    return Text(key, zeros=given.zeros, elements=given.elements, share=share)


def _number(value: float) -> str:
    return f"{value:.3g}"
