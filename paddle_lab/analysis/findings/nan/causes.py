"""Why an op made NaN or Inf, told from its name and from what it was given; and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.nan.advice import (
    DIVIDE_ADVICE,
    DOMAIN_ADVICE,
    EMPTY_ADVICE,
    HALF_ADVICE,
    LOG_ADVICE,
    OVERFLOW_ADVICE,
    ROOT_ADVICE,
    SOFTMAX_ADVICE,
)
from paddle_lab.analysis.findings.nan.numbers import Numbers, TensorNumbers
from paddle_lab.words import Text

_LOGARITHMS = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
_QUOTIENTS = frozenset(("divide", "reciprocal", "remainder", "floor_divide", "rsqrt"))
_POWERS = frozenset(("pow", "elementwise_pow"))
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
    given = _given(facts, numbers, op)
    if any(0 in facts.shape(tensor) for tensor in facts.inputs(op)):
        return Cause(Text("findings.nan.because.empty"), EMPTY_ADVICE)
    if not given:
        return Cause()
    if any(numbers.infs for numbers in given):
        return _of_inf(name)
    if name in _LOGARITHMS:
        return _logarithm(name, given[0])
    if name in _QUOTIENTS and given[-1].zeros:
        return Cause(
            Text("findings.nan.because.divided", zeros=_zeros(given[-1])),
            DIVIDE_ADVICE,
        )
    if name in ("sqrt", "rsqrt"):
        return _negative(given[0], name)
    if name in _POWERS and (is_nan or given[0].zeros):
        return _power(given[0])
    if name in _ARCS:
        return _outside_domain(name, given[0])
    return _overflow(facts, name, op, given)


def cause_in_backward(facts: Facts, numbers: TensorNumbers, op: int) -> Cause:
    """Return why the backward of an op made NaN or Inf, though its forward was finite."""
    name = facts.op_name(op).rstrip("_")
    given = _given(facts, numbers, op)
    zeros = next((numbers for numbers in given if numbers.zeros), None)
    is_root = name in ("sqrt", "rsqrt", "p_norm", "frobenius_norm", "dist") or name in _POWERS
    if is_root and zeros is not None:
        return Cause(
            Text("findings.nan.because.derivative_at_0", name=name, zeros=_zeros(zeros)),
            ROOT_ADVICE,
        )
    if name in _QUOTIENTS | set(_LOGARITHMS) and given:
        return Cause(
            Text("findings.nan.because.derivative_divides"),
            DIVIDE_ADVICE if name in _QUOTIENTS else LOG_ADVICE,
        )
    if name in _ARCS and given and given[0].magnitude >= _ARCS[name]:
        return Cause(
            Text("findings.nan.because.derivative_of_arc", name=name),
            DOMAIN_ADVICE,
        )
    if any(numbers.infs for numbers in given):
        return Cause(Text("findings.nan.because.inf"), SOFTMAX_ADVICE)
    if any(facts.dtype(tensor) == "float16" for tensor in facts.outputs(op)):
        return Cause(advice=HALF_ADVICE)
    return Cause()


def _of_inf(name: str) -> Cause:
    if not any(word in name for word in _SOFTMAXES):
        return Cause(Text("findings.nan.because.inf"))
    return Cause(
        Text("findings.nan.because.inf_row"),
        SOFTMAX_ADVICE,
    )


def _power(given: Numbers) -> Cause:
    if given.smallest < 0:
        return _negative(given, "pow")
    return Cause(
        Text("findings.nan.because.power", zeros=_zeros(given)),
        DIVIDE_ADVICE,
    )


def _outside_domain(name: str, given: Numbers) -> Cause:
    return Cause(
        Text(
            "findings.nan.because.arc",
            name=name,
            smallest=_number(given.smallest),
            largest=_number(given.largest),
        ),
        DOMAIN_ADVICE,
    )


def _logarithm(name: str, given: Numbers) -> Cause:
    least = _LOGARITHMS[name]
    if given.smallest < least:
        return Cause(
            Text(
                "findings.nan.because.log_of_less",
                name=name,
                least=f"{least:g}",
                smallest=_number(given.smallest),
            ),
            LOG_ADVICE,
        )
    if least == 0:
        return Cause(
            Text("findings.nan.because.log_of_0", name=name, zeros=_zeros(given)),
            LOG_ADVICE,
        )
    return Cause(Text("findings.nan.because.log_of", name=name, least=f"{least:g}"), LOG_ADVICE)


def _negative(given: Numbers, name: str) -> Cause:
    return Cause(
        Text("findings.nan.because.negative", name=name, smallest=_number(given.smallest)),
        DOMAIN_ADVICE,
    )


def _overflow(facts: Facts, name: str, op: int, given: list[Numbers]) -> Cause:
    dtypes = [facts.dtype(tensor) for tensor in facts.outputs(op)]
    dtype = next((dtype for dtype in dtypes if dtype in _LARGEST), "")
    largest = max((numbers.magnitude for numbers in given), default=0.0)
    if not dtype or not largest:
        return Cause()
    end = _LARGEST[dtype]
    if name in _EXPONENTIALS:
        return Cause(
            Text("findings.nan.because.exp", name=name, largest=_number(largest), dtype=dtype),
            HALF_ADVICE if dtype == "float16" else OVERFLOW_ADVICE,
        )
    is_large = largest > _MUCH * end**0.5 or dtype == "float16"
    if not is_large:
        return Cause()
    return Cause(
        Text(
            "findings.nan.because.large",
            largest=_number(largest),
            dtype=dtype,
            end=f"{end:.3g}",
        ),
        HALF_ADVICE if dtype == "float16" else OVERFLOW_ADVICE,
    )


def _given(facts: Facts, numbers: TensorNumbers, op: int) -> list[Numbers]:
    found = (numbers.of(tensor, op) for tensor in facts.inputs(op))
    return [one for one in found if one is not None]


def _zeros(given: Numbers) -> Text:
    share = f"{given.zeros / given.elements:.0%}"
    key = "findings.nan.because.zeros" if share == "0%" else "findings.nan.because.zeros_share"
    return Text(key, zeros=given.zeros, elements=given.elements, share=share)


def _number(value: float) -> str:
    return f"{value:.3g}"
