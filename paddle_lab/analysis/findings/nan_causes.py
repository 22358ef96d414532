"""Why an op made NaN or Inf, told from its name and from what it was given; and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.analysis.findings.nan_advice import (
    DIVIDE_ADVICE,
    DOMAIN_ADVICE,
    EMPTY_ADVICE,
    HALF_ADVICE,
    LOG_ADVICE,
    OVERFLOW_ADVICE,
    ROOT_ADVICE,
    SOFTMAX_ADVICE,
)
from paddle_lab.analysis.findings.numbers import Numbers, TensorNumbers
from paddle_lab.analysis.findings.text import Text

_LOGARITHMS = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
_QUOTIENTS = frozenset(("divide", "reciprocal", "remainder", "floor_divide", "rsqrt"))
_POWERS = frozenset(("pow", "elementwise_pow"))
_EXPONENTIALS = frozenset(("exp", "expm1", "cosh", "sinh"))
_ARCS = {"acos": 1.0, "asin": 1.0, "atanh": 1.0}
_SOFTMAXES = ("softmax", "logsumexp", "attn", "attention")
_LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4e38, "float64": 1.8e308}
_MUCH = 1e-3
"""Of the root of what a type holds: products of such numbers come close to its end."""


_UNKNOWN = Text(en="", zh="")


@dataclass(frozen=True)
class Cause:
    """Why it happened, as a clause of a sentence; empty where it cannot be told."""

    text: Text = _UNKNOWN
    advice: Text | None = None


def cause_in_forward(facts: Facts, numbers: TensorNumbers, op: int, *, is_nan: bool) -> Cause:
    """Return why an op made NaN or Inf of what it was given."""
    name = facts.op_name(op).rstrip("_")
    given = _given(facts, numbers, op)
    if any(0 in facts.shape(tensor) for tensor in facts.inputs(op)):
        return Cause(Text(en="its input has no elements", zh="它的输入没有任何元素"), EMPTY_ADVICE)
    if not given:
        return Cause()
    if any(numbers.infs for numbers in given):
        return _of_inf(name)
    if name in _LOGARITHMS:
        return _logarithm(name, given[0])
    if name in _QUOTIENTS and given[-1].zeros:
        return Cause(
            Text(
                en=f"{_zeros(given[-1]).en} of its divisor are 0",
                zh=f"除数的{_zeros(given[-1]).zh}是 0",
            ),
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
            Text(
                en=f"the derivative of {name} at 0 is not finite, and {_zeros(zeros).en} of its "
                "input are 0",
                zh=f"{name} 在 0 处的导数不是有限数,而它的输入的{_zeros(zeros).zh}是 0",
            ),
            ROOT_ADVICE,
        )
    if name in _QUOTIENTS | set(_LOGARITHMS) and given:
        return Cause(
            Text(
                en="its derivative divides by numbers too close to 0",
                zh="它的导数除以了过于接近 0 的数",
            ),
            DIVIDE_ADVICE if name in _QUOTIENTS else LOG_ADVICE,
        )
    if name in _ARCS and given and given[0].magnitude >= _ARCS[name]:
        return Cause(
            Text(
                en=f"the derivative of {name} at -1 and 1 is infinite",
                zh=f"{name} 在 -1 和 1 处的导数是无穷大",
            ),
            DOMAIN_ADVICE,
        )
    if any(numbers.infs for numbers in given):
        return Cause(Text(en="its input holds Inf", zh="它的输入含有 Inf"), SOFTMAX_ADVICE)
    if any(facts.dtype(tensor) == "float16" for tensor in facts.outputs(op)):
        return Cause(advice=HALF_ADVICE)
    return Cause()


def _of_inf(name: str) -> Cause:
    if not any(word in name for word in _SOFTMAXES):
        return Cause(Text(en="its input holds Inf", zh="它的输入含有 Inf"))
    return Cause(
        Text(
            en="its input holds Inf, and a row of nothing but -Inf has nothing to normalise by",
            zh="它的输入含有 Inf,而整行都是 -Inf 时无法归一化",
        ),
        SOFTMAX_ADVICE,
    )


def _power(given: Numbers) -> Cause:
    if given.smallest < 0:
        return _negative(given, "pow")
    return Cause(
        Text(
            en=f"a negative power of 0 is Inf, and {_zeros(given).en} of its input are 0",
            zh=f"0 的负数次幂是 Inf,而它的输入的{_zeros(given).zh}是 0",
        ),
        DIVIDE_ADVICE,
    )


def _outside_domain(name: str, given: Numbers) -> Cause:
    return Cause(
        Text(
            en=f"{name} is defined between -1 and 1, and its input goes from "
            f"{_number(given.smallest)} to {_number(given.largest)}",
            zh=f"{name} 只在 -1 到 1 之间有定义,而它的输入从 "
            f"{_number(given.smallest)} 到 {_number(given.largest)}",
        ),
        DOMAIN_ADVICE,
    )


def _logarithm(name: str, given: Numbers) -> Cause:
    least = _LOGARITHMS[name]
    if given.smallest < least:
        return Cause(
            Text(
                en=f"{name} of less than {least:g} is NaN, and its input begins at "
                f"{_number(given.smallest)}",
                zh=f"{name} 对小于 {least:g} 的数得到 NaN,而它的输入最小是 "
                f"{_number(given.smallest)}",
            ),
            LOG_ADVICE,
        )
    if least == 0:
        return Cause(
            Text(
                en=f"{name} of 0 is -Inf, and {_zeros(given).en} of its input are 0",
                zh=f"{name}(0) 是 -Inf,而它的输入的{_zeros(given).zh}是 0",
            ),
            LOG_ADVICE,
        )
    return Cause(
        Text(en=f"{name} of {least:g} is -Inf", zh=f"{name}({least:g}) 是 -Inf"), LOG_ADVICE
    )


def _negative(given: Numbers, name: str) -> Cause:
    return Cause(
        Text(
            en=f"{name} of a negative number is NaN, and its input begins at "
            f"{_number(given.smallest)}",
            zh=f"对负数求 {name} 得到 NaN,而它的输入最小是 {_number(given.smallest)}",
        ),
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
            Text(
                en=f"{name} of {_number(largest)} is more than {dtype} holds",
                zh=f"{name}({_number(largest)}) 超出了 {dtype} 的表示范围",
            ),
            HALF_ADVICE if dtype == "float16" else OVERFLOW_ADVICE,
        )
    is_large = largest > _MUCH * end**0.5 or dtype == "float16"
    if not is_large:
        return Cause()
    return Cause(
        Text(
            en=f"its input is as large as {_number(largest)}, and {dtype} ends at {end:.3g}",
            zh=f"它的输入大到 {_number(largest)},而 {dtype} 最大只到 {end:.3g}",
        ),
        HALF_ADVICE if dtype == "float16" else OVERFLOW_ADVICE,
    )


def _given(facts: Facts, numbers: TensorNumbers, op: int) -> list[Numbers]:
    found = (numbers.of(tensor, op) for tensor in facts.inputs(op))
    return [one for one in found if one is not None]


def _zeros(given: Numbers) -> Text:
    share = f"{given.zeros / given.elements:.0%}"
    rough = "" if share == "0%" else share
    return Text(
        en=f"{given.zeros:,} of {given.elements:,} values{f' ({rough})' if rough else ''}",
        zh=f" {given.elements:,} 个值中有 {given.zeros:,} 个{f'({rough})' if rough else ''}",
    )


def _number(value: float) -> str:
    return f"{value:.3g}"
