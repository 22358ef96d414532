"""What is in a tensor, in numbers, without running an op that a trace would see."""

from __future__ import annotations

import ctypes
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.evidence.scan import KINDS, Scanned, scan


class Statistics(NamedTuple):
    """What is in a tensor; of complex numbers it is the magnitudes.

    Smallest, largest, mean and norm are of the finite values, and 0 where there are none.
    """

    elements: int
    zeros: int
    nans: int
    infs: int
    smallest: float
    largest: float
    mean: float
    norm: float
    """Square root of the sum of squares."""


_kinds: dict[Any, int] = {}
_NO_KIND = -1


def statistics_of(tensor: Any) -> Statistics | None:
    """Look at what is in a tensor.

    Returns
    -------
    Statistics or None
        ``None`` where there is nothing to look at: the tensor is undefined or empty, sparse, or
        not of floats.
    """
    found = _look(tensor, with_histogram=False)
    return None if found is None else found[0]


def statistics_and_histogram_of(tensor: Any) -> tuple[Statistics, bytes] | None:
    """Look at what is in a tensor; the histogram is as :data:`~.scan.Scanned` says."""
    return _look(tensor, with_histogram=True)


def _look(tensor: Any, *, with_histogram: bool) -> tuple[Statistics, bytes] | None:
    # Asking an undefined tensor for its values kills the process.
    if not tensor._is_initialized() or not tensor.is_dense():
        return None
    dtype = tensor.dtype
    kind = _kinds.get(dtype)
    if kind is None:
        name = str(dtype).removeprefix("paddle.")
        kind = _kinds[dtype] = KINDS.index(name) if name in KINDS else _NO_KIND
    if kind == _NO_KIND:
        return None
    if _has_devices() and not tensor.place.is_cpu_place():
        tensor = _on_host(tensor)
    shape = tensor.shape
    elements = math.prod(shape)
    address = tensor.data_ptr()
    if tensor.is_contiguous():
        scanned = scan(address, elements, kind, with_histogram)
    else:
        scanned = _scan_strided(address, shape, tensor.strides, kind, with_histogram=with_histogram)
    return _statistics(elements, scanned), scanned[7]


def _statistics(elements: int, scanned: Scanned) -> Statistics:
    zeros, nans, infs, smallest, largest, total, squares, _ = scanned
    finite = elements - nans - infs
    mean = total / finite if finite else 0.0
    return Statistics(elements, zeros, nans, infs, smallest, largest, mean, math.sqrt(squares))


def _scan_strided(
    address: int, shape: list[int], strides: list[int], kind: int, *, with_histogram: bool
) -> Scanned:
    """Scan a copy of a tensor that is a view with strides, in elements."""
    item_bytes = np.dtype(_STORED_AS[kind]).itemsize
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * item_bytes)).from_address(address)
    strided = np.lib.stride_tricks.as_strided(
        np.frombuffer(memoryview(memory), _STORED_AS[kind]),
        tuple(shape),
        tuple(stride * item_bytes for stride in strides),
        writeable=False,
    )
    copy = np.ascontiguousarray(strided)
    return scan(copy.ctypes.data, copy.size, kind, with_histogram)


# Only moved about, so the bits need no type that numpy knows.
_STORED_AS = ("u2", "u2", "u4", "u8", "u8", "c16")


@cache
def _has_devices() -> bool:
    import paddle

    return bool(
        paddle.is_compiled_with_cuda()
        or paddle.is_compiled_with_xpu()
        or paddle.device.get_all_custom_device_type()
    )


def _on_host(tensor: Any) -> Any:
    """Copy a tensor past the hooks: the copy is ours, not the traced code's."""
    import paddle

    copy_to = type(tensor)._copy_to
    original = getattr(copy_to, "__wrapped__", copy_to)
    return original(tensor, paddle.CPUPlace(), True)  # noqa: FBT003  (blocking)
