"""What is in a tensor, in numbers, without running an op that a trace would see."""

from __future__ import annotations

import ctypes
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.values.scan import KINDS, Scanned, scan
from paddle_lab.capture.native import native_twin


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


Seen = tuple[tuple[int, ...], Any, int, Scanned]
"""The fields of a :class:`Look`; as a plain tuple it is nothing that Python's garbage collector
has to visit, and there is one for each gradient."""


class Look(NamedTuple):
    """What a look at a tensor has found, before it is brought into numbers for people."""

    shape: tuple[int, ...]
    dtype: Any
    stored: int
    """Elements that were looked at: fewer than the shape says, where only some rows are stored."""
    scanned: Scanned

    @property
    def histogram(self) -> bytes:
        """Values by binary exponent, as :data:`~.scan.Scanned` says."""
        return self.scanned[7]

    def statistics(self) -> Statistics:
        """Return the numbers."""
        zeros, nans, infs, smallest, largest, total, squares, _ = self.scanned
        # A row may be stored more than once; then it is as if the tensor had more of them.
        absent = max(math.prod(self.shape) - self.stored, 0)
        if absent:
            smallest, largest = min(smallest, 0.0), max(largest, 0.0)
        elements = self.stored + absent
        finite = elements - nans - infs
        mean = total / finite if finite else 0.0
        norm = math.sqrt(squares)
        return Statistics(elements, zeros + absent, nans, infs, smallest, largest, mean, norm)


_NO_KIND = -1
# By identity, for there is one object for each type, and Paddle's way to hash it is slow.
_kinds: dict[int, tuple[int, Any]] = {}


def statistics_of(tensor: Any) -> Statistics | None:
    """Return what is in a tensor; ``None`` where :func:`look_at` does."""
    found = look_at(tensor, with_histogram=False)
    return None if found is None else Look(*found).statistics()


def look_at(tensor: Any, *, with_histogram: bool) -> Seen | None:
    """Look at what is in a tensor.

    Returns
    -------
    tuple or None
        What :class:`Look` is made of; ``None`` where there is nothing to look at: the tensor is
        undefined or empty, sparse in coordinates, or not of floats.
    """
    usual = None if _has_devices() else look_at_host(tensor, _kinds, with_histogram)
    return _look_closely(tensor, with_histogram=with_histogram) if usual is None else usual


@native_twin
def look_at_host(
    tensor: Any,
    kinds: dict[int, tuple[int, Any]],
    with_histogram: bool,  # noqa: FBT001
) -> Seen | None:
    """Look at a tensor of the usual sort, which lies in the memory of this process.

    Parameters
    ----------
    kinds
        By the identity of a dtype: the position in :data:`~.scan.KINDS` or -1, and the dtype.

    Returns
    -------
    tuple or None
        What :class:`Look` is made of; ``None`` for any other tensor, which asks for a closer look.
    """
    # Asking an undefined tensor for its values kills the process.
    if not (DOOR.is_initialized(tensor) and DOOR.is_dense(tensor) and tensor.is_contiguous()):
        return None
    dtype = tensor.dtype
    kind, _ = kinds.get(id(dtype), (_NO_KIND, None))
    if kind == _NO_KIND:
        return None
    shape = tuple(tensor.shape)
    elements = math.prod(shape)
    return shape, dtype, elements, scan(tensor.data_ptr(), elements, kind, with_histogram)


def is_scanned(dtype: Any) -> bool:
    """Tell whether tensors of a type are looked at."""
    return (_kinds.get(id(dtype)) or _kind_of(dtype))[0] != _NO_KIND


def _look_closely(tensor: Any, *, with_histogram: bool) -> Seen | None:
    if not DOOR.is_initialized(tensor):
        return None
    if not DOOR.is_dense(tensor):
        return _look_at_rows(tensor, with_histogram=with_histogram)
    dtype = tensor.dtype
    kind, _ = _kinds.get(id(dtype)) or _kind_of(dtype)
    if kind == _NO_KIND:
        return None
    if _has_devices() and not tensor.place.is_cpu_place():
        if not DOOR.has("copies"):
            return None
        tensor = _on_host(tensor)
    shape = tuple(tensor.shape)
    scanned = _scan_strided(
        tensor.data_ptr(), shape, tensor.strides, kind, with_histogram=with_histogram
    )
    return shape, dtype, math.prod(shape), scanned


def _kind_of(dtype: Any) -> tuple[int, Any]:
    name = str(dtype).removeprefix("paddle.")
    kind = _kinds[id(dtype)] = KINDS.index(name) if name in KINDS else _NO_KIND, dtype
    return kind


def _look_at_rows(tensor: Any, *, with_histogram: bool) -> Seen | None:
    """Look at a tensor of which only some rows are stored, as a sparse embedding's gradient is."""
    if not DOOR.has("sparse_values") or not DOOR.is_selected_rows(tensor):
        return None
    rows = look_at(DOOR.tensor_of_selected_rows(tensor), with_histogram=with_histogram)
    if rows is None:
        return None
    # The tensor's own shape is that of the stored rows.
    stored_shape, *what_was_seen = rows
    return (DOOR.selected_rows(tensor).height(), *stored_shape[1:]), *what_was_seen


def _scan_strided(
    address: int, shape: tuple[int, ...], strides: list[int], kind: int, *, with_histogram: bool
) -> Scanned:
    """Scan a tensor that may be a view; strides are in elements."""
    item_bytes = np.dtype(_STORED_AS[kind]).itemsize
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * item_bytes)).from_address(address)
    strided = np.lib.stride_tricks.as_strided(
        np.frombuffer(memoryview(memory), _STORED_AS[kind]),
        shape,
        tuple(stride * item_bytes for stride in strides),
        writeable=False,
    )
    copy = np.ascontiguousarray(strided)  # the same memory where nothing is to be moved
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

    return DOOR.copy_to(tensor, paddle.CPUPlace(), True)  # noqa: FBT003  (blocking)
