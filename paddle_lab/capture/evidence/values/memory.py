"""Reads the values of a tensor in CPU memory without an op."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.values.scan import KINDS, STORED, scan
from paddle_lab.capture.evidence.values.statistics import kind_of
from paddle_lab.trace.limit import EXACT

MOST_ELEMENTS = 1 << 16


def memory_of(tensor: Any, most: int = MOST_ELEMENTS) -> tuple[int, int, int] | None:
    """Return a tensor's address, its number of values up to ``most``, and its dtype's number.

    Return ``None`` if the values cannot be read as they are, for example on a GPU. The number of a
    dtype is its position in :data:`KINDS`.
    """
    if not DOOR.is_initialized(tensor) or not DOOR.is_dense(tensor):
        return None
    kind = kind_of(tensor.dtype)
    if (
        kind < 0
        or KINDS[kind].startswith("complex")
        or not tensor.place.is_cpu_place()
        or not tensor.is_contiguous()
    ):
        return None
    elements = min(math.prod(tensor.shape), most)
    return (tensor.data_ptr(), elements, kind) if elements else None


def digest_at(address: int, elements: int, kind: int) -> int:
    """Return a digest of the values at an address."""
    return scan(address, elements, kind, False, EXACT)[9] or 0  # noqa: FBT003


def bytes_at(address: int, elements: int, kind: int) -> Any:
    """Return the bytes of the values at an address."""
    return (ctypes.c_char * (elements * np.dtype(STORED[kind]).itemsize)).from_address(address)
