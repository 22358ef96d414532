"""A 64-bit digest of an array's bytes or rounded values, computed as fast as memory is read.

The digest distinguishes runs. It does not protect against forged data. Each word gives a number, by
two multiplications with the word and its position. The digest is the sum of these numbers modulo
2**64. The order of a sum does not matter, so NumPy and vector instructions get the same digest.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.evidence.values.scan import FLOATS, KINDS, STORED
from paddle_lab.capture.native import native_twin

_STEP, _FIRST, _SECOND = map(
    np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LARGEST = 2.0**62
_NOT_A_NUMBER = np.int64(-1)


@native_twin
def digest(address: int, elements: int, kind: int, decimals: int) -> int:
    """Return a digest of an array.

    Parameters
    ----------
    address, elements, kind
        See :func:`~paddle_lab.capture.evidence.values.scan.scan`.
    decimals
        To how many decimals floating-point values are rounded before. With
        :data:`paddle_lab.trace.limit.EXACT` they are not rounded. Integers are never rounded.
    """
    size = elements * np.dtype(STORED[kind]).itemsize
    memory: npt.NDArray[np.uint8] = np.frombuffer(
        memoryview((ctypes.c_char * size).from_address(address) if size else b""), np.uint8
    )
    with np.errstate(over="ignore"):
        if decimals >= 0 and kind < len(FLOATS):
            words = _rounded(memory, kind, decimals)
        else:
            words = np.pad(memory, (0, -size % 8)).view(np.uint64)
        places = np.arange(1, len(words) + 1, dtype=np.uint64) * _STEP
        total = _mixed(words, places).sum(dtype=np.uint64, keepdims=True)
        return int(_mixed(total, np.array([elements], np.uint64)).view(np.int64)[0])


def _mixed(words: Any, places: Any) -> npt.NDArray[np.uint64]:
    first = (words ^ places) * _FIRST
    mixed: npt.NDArray[np.uint64] = (first ^ (first >> np.uint64(32))) * _SECOND
    return mixed


def _rounded(memory: npt.NDArray[np.uint8], kind: int, decimals: int) -> npt.NDArray[np.uint64]:
    stored: npt.NDArray[Any] = memory.view(STORED[kind])
    if KINDS[kind] == "bfloat16":  # the upper half of a float32
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    elif stored.dtype.kind == "c":
        stored = stored.view(np.float32 if stored.itemsize == 8 else np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.rint(stored.astype(np.float64) * 10.0**decimals)
        whole = np.clip(scaled, -_LARGEST, _LARGEST).astype(np.int64) * 2
    return np.where(np.isnan(scaled), _NOT_A_NUMBER, whole).view(np.uint64)
