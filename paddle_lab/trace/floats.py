"""Floats in columns of integers, as the bits of IEEE 754 single precision.

A column of floats is packed, checked and read like any other column. A value that is too large for
single precision becomes the largest finite value, because an infinite norm would mean an infinite
gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_LARGEST = float(np.finfo(np.float32).max)


def float_bits(values: Sequence[float]) -> list[int]:
    """Return the bits of each value as a signed 32-bit integer."""
    clipped = np.clip(np.asarray(values, np.float64), -_LARGEST, _LARGEST).astype(np.float32)
    bits: list[int] = clipped.view(np.int32).tolist()
    return bits


def from_bits(bits: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """Return the floats in a column of type ``f32``."""
    return np.ascontiguousarray(bits).view(np.float32)
