"""Statistics of an array in one pass: counts, extremes, sums and a histogram."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.native import native_twin

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
KINDS = (*FLOATS, "bool", "uint8", "int8", "int16", "int32", "int64")
"""The element types that can be scanned. For complex numbers the magnitudes are scanned."""

Scanned = tuple[int, int, int, float, float, float, float, bytes, float]
"""zeros, nans, infs; smallest, largest, sum and sum of squares of the finite values; histogram; sum
of the squared deviations of the finite values from their mean.

A row of the histogram is three int64: exponent, whether negative, count. A value counts for the
exponent *e* where 2**e <= abs(value) < 2**(e + 1). The rows of negative values come first.
"""

STORED = ("f2", "u2", "f4", "f8", "c8", "c16", "u1", "u1", "i1", "i2", "i4", "i8")
"""The type with which NumPy reads each dtype. NumPy has no bfloat16, so the bits are read."""


@native_twin
def scan(address: int, elements: int, kind: int, with_histogram: bool) -> Scanned:  # noqa: FBT001
    """Read every element of an array once.

    The native version of this function releases the GIL if the array is large.

    Parameters
    ----------
    address
        Address of the first of ``elements`` contiguous elements, in the memory of this process. The
        caller keeps the array alive.
    kind
        Position of the element type in :data:`KINDS`.
    """
    values = _values_at(address, elements, kind)
    finite = values[np.isfinite(values)]
    nans = int(np.isnan(values).sum())
    zeros = int((finite == 0).sum())
    infs = elements - finite.size - nans
    histogram = _histogram(finite) if with_histogram else b""
    if finite.size == 0:
        return zeros, nans, infs, 0.0, 0.0, 0.0, 0.0, histogram, 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # the sums of squares may be infinite
        deviations = np.square(finite - finite.mean()).sum()
        return (
            zeros, nans, infs, float(finite.min()), float(finite.max()), float(finite.sum()),
            float(np.square(finite).sum()), histogram,
            math.inf if np.isnan(deviations) else float(deviations),
        )  # fmt: skip


def _values_at(address: int, elements: int, kind: int) -> npt.NDArray[np.float64]:
    item_bytes = np.dtype(STORED[kind]).itemsize
    memory = (ctypes.c_char * (elements * item_bytes)).from_address(address)
    stored: npt.NDArray[Any] = np.frombuffer(memoryview(memory), STORED[kind])
    if KINDS[kind] == "bfloat16":  # the upper half of a float32
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        if stored.dtype.kind == "c":
            stored = np.hypot(stored.real.astype(np.float64), stored.imag.astype(np.float64))
        return stored.astype(np.float64)


def _histogram(finite: npt.NDArray[np.float64]) -> bytes:
    rows = []
    for is_negative, values in ((1, finite[finite < 0]), (0, finite[finite > 0])):
        _, exponents = np.frexp(values)  # 0.5 <= mantissa < 1
        for exponent, count in zip(*np.unique(exponents - 1, return_counts=True), strict=True):
            rows.append((exponent, is_negative, count))
    return np.array(rows, np.int64).tobytes()
