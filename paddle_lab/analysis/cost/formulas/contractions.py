"""Products of matrices: one multiply-add for each term of each sum.

Source: an output of ``[m, k] x [k, n]`` has ``m * n`` elements, each a sum of ``k`` products. So
the product takes ``m * n * k`` multiply-adds (Golub and Van Loan, "Matrix Computations", 1.1). The
gradient of each input is another product with the same three extents.
"""

from __future__ import annotations

import re
from math import prod

from paddle_lab.analysis.cost.call import Call
from paddle_lab.analysis.cost.formulas.formula import (
    FREE,
    UNKNOWN,
    Cost,
    Formula,
    GradFormula,
    Needed,
    multiply_adds,
    products_backward,
)


def matmul(call: Call) -> Cost:
    """``out[..., i, j] = sum over k of x[..., i, k] * y[..., k, j]``, with an optional bias."""
    if len(call.shapes) < 2:
        return UNKNOWN
    x, has_bias = call.shapes[0], len(call.shapes) > 2
    transposed = call.attribute("transpose_x") is True and len(x) > 1
    return multiply_adds(call.out * x[-2 if transposed else -1], call.out if has_bias else 0)


def addmm(call: Call) -> Cost:
    """``out = beta * input + alpha * (x @ y)``: a product, two scalings and a sum."""
    others = 3 * call.out
    return multiply_adds(call.out * call.shapes[1][-1], others)


def addmm_backward(call: Call, needed: Needed) -> Cost:
    """Two products, scaled by ``alpha``; the gradient of ``input`` is scaled by ``beta``."""
    terms = call.out * call.shapes[1][-1]
    scaled = [call.out, call.elements(1), call.elements(2)]
    summed = call.out - call.elements(0) if 0 in needed else 0
    others = summed + sum(scaled[slot] for slot in set(needed) if slot < 3)
    return multiply_adds(terms * len({1, 2} & set(needed)), others)


def bilinear(call: Call) -> Cost:
    """``out[b, o] = x[b] @ weight[o] @ y[b] + bias[o]``, as two products in this order."""
    (rows, first), (_, second) = call.shapes[:2]
    outputs = call.shapes[2][0]
    terms = rows * outputs * (first * second + second)
    return multiply_adds(terms, call.out if len(call.shapes) > 3 else 0)


def einsum(call: Call) -> Cost:
    """A sum over all labels of one or two operands: one multiply-add for each combination.

    For three or more operands Paddle chooses an order, which is not in the record.
    """
    found = re.search(r"['\"]([^'\"]+)['\"]", call.attributes)
    extents = _extents(call, found[1]) if found else None
    if extents is None or len(call.shapes) > 2:
        return UNKNOWN
    if len(call.shapes) == 1:
        return Cost(prod(call.shapes[0]) - call.out) if call.out else FREE
    return multiply_adds(prod(extents.values()))


def einsum_backward(call: Call, needed: Needed) -> Cost:
    """The gradient of each of two operands is a sum over the same labels."""
    return products_backward(einsum)(call, needed) if len(call.shapes) == 2 else UNKNOWN


def _extents(call: Call, equation: str) -> dict[str, int] | None:
    """Return the extent of each label; None if there is not one term for each combination.

    There are three such cases: an ellipsis, which hides labels; a repeated label, which is a
    diagonal; and a label of only one of two operands, which may be summed before the product.
    """
    left, _, result = equation.replace(" ", "").partition("->")
    operands = left.split(",")
    if "." in equation or "->" not in equation or len(operands) != len(call.shapes):
        return None
    if any(len(set(labels)) < len(labels) for labels in operands):
        return None
    if len(operands) == 2 and not set(operands[0]) ^ set(operands[1]) <= set(result):
        return None
    extents: dict[str, int] = {}
    for labels, shape in zip(operands, call.shapes, strict=True):
        if len(labels) != len(shape):
            return None
        for label, extent in zip(labels, shape, strict=True):
            extents[label] = max(extent, extents.get(label, 1))
    return extents


FORWARD: dict[str, Formula] = {
    **dict.fromkeys(("matmul", "linear", "bmm", "mv", "dot"), matmul),
    "addmm": addmm,
    "baddbmm": addmm,
    "bilinear": bilinear,
    "einsum": einsum,
}
BACKWARD: dict[str, GradFormula] = {
    **dict.fromkeys(("matmul", "bmm", "mv", "dot"), products_backward(matmul)),
    "addmm": addmm_backward,
    "baddbmm": addmm_backward,
    "einsum": einsum_backward,
}
