"""Statistics of an array in one pass: counts, extremes, sums, a histogram, and a digest.

The digest distinguishes runs. It does not protect against forged data. Each word gives a number, by
two multiplications with the word and its position. The digest is the sum of these numbers modulo
2**64. The order of a sum does not matter, so NumPy and vector instructions get the same digest.
"""

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

Scanned = tuple[int, int, int, float, float, float, float, bytes, float, int | None]
"""zeros, nans, infs; smallest, largest, sum and sum of squares of the finite values; histogram; sum
of the squared deviations of the finite values from their mean; digest, if it was asked for.

A row of the histogram is three int64: exponent, whether negative, count. A value counts for the
exponent *e* where 2**e <= abs(value) < 2**(e + 1). The rows of negative values come first.
"""

STORED = ("f2", "u2", "f4", "f8", "c8", "c16", "u1", "u1", "i1", "i2", "i4", "i8")
"""The type with which NumPy reads each dtype. NumPy has no bfloat16, so the bits are read."""

_STEP, _FIRST, _SECOND = map(
    np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LARGEST = 2.0**62
_NOT_A_NUMBER = np.int64(-1)


@native_twin
def scan(
    address: int,
    elements: int,
    kind: int,
    with_histogram: bool,  # noqa: FBT001
    decimals: int | None = None,
) -> Scanned:
    """Read every element of an array once.

    The native version of this function releases the GIL if the array is large.

    Parameters
    ----------
    address
        Address of the first of ``elements`` contiguous elements, in the memory of this process. The
        caller keeps the array alive.
    kind
        Position of the element type in :data:`KINDS`.
    decimals
        To how many decimals floating-point values are rounded for the digest; ``None`` for no
        digest. With :data:`paddle_lab.trace.limit.EXACT` they are not rounded. Integers are never
        rounded.
    """
    size = elements * np.dtype(STORED[kind]).itemsize
    memory: npt.NDArray[np.uint8] = np.frombuffer(
        memoryview((ctypes.c_char * size).from_address(address) if size else b""), np.uint8
    )
    code = None if decimals is None else _digest(memory, elements, kind, decimals)
    values = _values(memory, kind)
    finite = values[np.isfinite(values)]
    nans = int(np.isnan(values).sum())
    zeros = int((finite == 0).sum())
    infs = elements - finite.size - nans
    histogram = _histogram(finite) if with_histogram else b""
    if finite.size == 0:
        return zeros, nans, infs, 0.0, 0.0, 0.0, 0.0, histogram, 0.0, code
    with np.errstate(over="ignore", invalid="ignore"):  # the sums of squares may be infinite
        deviations = np.square(finite - finite.mean()).sum()
        return (
            zeros, nans, infs, float(finite.min()), float(finite.max()), float(finite.sum()),
            float(np.square(finite).sum()), histogram,
            math.inf if np.isnan(deviations) else float(deviations), code,
        )  # fmt: skip


def _stored(memory: npt.NDArray[np.uint8], kind: int) -> npt.NDArray[Any]:
    stored: npt.NDArray[Any] = memory.view(STORED[kind])
    if KINDS[kind] == "bfloat16":  # the upper half of a float32
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored


def _values(memory: npt.NDArray[np.uint8], kind: int) -> npt.NDArray[np.float64]:
    stored = _stored(memory, kind)
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


def _digest(memory: npt.NDArray[np.uint8], elements: int, kind: int, decimals: int) -> int:
    with np.errstate(over="ignore"):
        if decimals >= 0 and kind < len(FLOATS):
            words = _rounded(_stored(memory, kind), decimals)
        else:
            words = np.pad(memory, (0, -len(memory) % 8)).view(np.uint64)
        places = np.arange(1, len(words) + 1, dtype=np.uint64) * _STEP
        total = _mixed(words, places).sum(dtype=np.uint64, keepdims=True)
        return int(_mixed(total, np.array([elements], np.uint64)).view(np.int64)[0])


def _mixed(words: Any, places: Any) -> npt.NDArray[np.uint64]:
    first = (words ^ places) * _FIRST
    mixed: npt.NDArray[np.uint64] = (first ^ (first >> np.uint64(32))) * _SECOND
    return mixed


def _rounded(stored: npt.NDArray[Any], decimals: int) -> npt.NDArray[np.uint64]:
    if stored.dtype.kind == "c":
        stored = stored.view(np.float32 if stored.itemsize == 8 else np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.rint(stored.astype(np.float64) * 10.0**decimals)
        whole = np.clip(scaled, -_LARGEST, _LARGEST).astype(np.int64) * 2
    return np.where(np.isnan(scaled), _NOT_A_NUMBER, whole).view(np.uint64)
