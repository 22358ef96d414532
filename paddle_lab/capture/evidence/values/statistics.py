"""Statistics of a tensor's values, computed without running an op that a trace would record."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.evidence.values.scan import FLOATS, KINDS, STORED, Scanned, scan
from paddle_lab.trace.floats import float_bits


class Statistics(NamedTuple):
    """Statistics of a tensor's values; for complex numbers, of their magnitudes.

    Smallest, largest, mean and norm cover the finite values only, and are 0 if there are none.
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
    deviation: float
    """Standard deviation of the finite values, divided by their count as in ``numpy.std``."""


Seen = tuple[tuple[int, ...], Any, int, Scanned]
"""The scan of a tensor: shape, dtype, count of scanned elements, and the scan's result.

The count is lower than the shape's if only some rows are stored. This is a plain tuple, which
Python's garbage collector need not visit, because there is one for each gradient."""

_NO_KIND = -1
# The keys are ids: each dtype is a single object, and Paddle computes the hash of a dtype slowly.
_kinds: dict[int, tuple[int, Any]] = {}


def statistics(seen: Seen) -> Statistics:
    """Return the statistics of a scan."""
    shape, _, stored, scanned = seen
    zeros, nans, infs, smallest, largest, total, squares, _, deviations, _ = scanned
    # Sparse rows may be stored repeatedly, so the tensor may have fewer rows than are stored.
    absent = max(math.prod(shape) - stored, 0)
    if absent:
        smallest, largest = min(smallest, 0.0), max(largest, 0.0)
    elements = stored + absent
    finite = elements - nans - infs
    mean = total / finite if finite else 0.0
    norm = math.sqrt(squares)
    if absent and finite > absent:
        deviations += total**2 * absent / ((finite - absent) * finite)
    deviation = math.sqrt(deviations / finite) if finite else 0.0
    return Statistics(
        elements, zeros + absent, nans, infs, smallest, largest, mean, norm, deviation
    )


def statistic_cells(rows: Sequence[Statistics]) -> Iterator[tuple[int, ...]]:
    """Yield each row as integers: the counts and the bits of the floats, without the deviation."""
    floats = float_bits([number for row in rows for number in row[4:8]])
    for at, row in enumerate(rows):
        yield (*row[:4], *floats[4 * at : 4 * at + 4])


def statistics_of(tensor: Any) -> Statistics | None:
    """Return a tensor's statistics; ``None`` if :func:`look_at` returns ``None``."""
    seen = look_at(tensor, with_histogram=False)
    return None if seen is None else statistics(seen)


def look_at(tensor: Any, *, with_histogram: bool, decimals: int | None = None) -> Seen | None:
    """Scan the values of a tensor.

    Parameters
    ----------
    decimals
        To how many decimals the values are rounded for their digest; ``None`` for no digest.

    Returns
    -------
    tuple or None
        The shape, dtype, element count and scan result. ``None`` if the tensor has no
        values to scan: it is undefined, empty, sparse (but not SelectedRows), or of another dtype.
    """
    # Reading the values of an undefined tensor would kill the process.
    if not DOOR.is_initialized(tensor):
        return None
    if not DOOR.is_dense(tensor):
        return _look_at_rows(tensor, with_histogram, decimals)
    dtype = tensor.dtype
    kind = kind_of(dtype)
    if kind == _NO_KIND:
        return None
    if _has_devices() and not tensor.place.is_cpu_place():
        if not DOOR.has("copies"):
            return None
        tensor = _on_host(tensor)
    shape = tuple(tensor.shape)
    elements = math.prod(shape)
    address, copy = tensor.data_ptr(), None
    if not tensor.is_contiguous():
        copy = _contiguous(address, shape, tensor.strides, kind)
        address = copy.ctypes.data
    return shape, dtype, elements, scan(address, elements, kind, with_histogram, decimals)


def is_scanned(dtype: Any) -> bool:
    """Tell whether tensors of a dtype can be scanned."""
    return kind_of(dtype) != _NO_KIND


def is_floating(dtype: Any) -> bool:
    """Tell whether tensors of a dtype have floating-point or complex numbers."""
    return 0 <= kind_of(dtype) < len(FLOATS)


def kind_of(dtype: Any) -> int:
    """Return a dtype's position in :data:`KINDS`, -1 if its tensors cannot be scanned."""
    if id(dtype) not in _kinds:
        name = str(dtype).removeprefix("paddle.")
        _kinds[id(dtype)] = KINDS.index(name) if name in KINDS else _NO_KIND, dtype
    return _kinds[id(dtype)][0]


def _look_at_rows(tensor: Any, with_histogram: bool, decimals: int | None) -> Seen | None:  # noqa: FBT001
    """Scan a tensor that stores only some rows, such as the gradient of a sparse embedding."""
    if not DOOR.has("sparse_values") or not DOOR.is_selected_rows(tensor):
        return None
    inner = DOOR.tensor_of_selected_rows(tensor)
    rows = look_at(inner, with_histogram=with_histogram, decimals=decimals)
    if rows is None:
        return None
    # The shape of the inner tensor counts only the stored rows.
    stored_shape, *what_was_seen = rows
    return (DOOR.selected_rows(tensor).height(), *stored_shape[1:]), *what_was_seen


def _contiguous(
    address: int, shape: tuple[int, ...], strides: list[int], kind: int
) -> npt.NDArray[Any]:
    """Return a contiguous array of a tensor that may be a view. Strides are in elements."""
    stored = np.dtype(STORED[kind])
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * stored.itemsize)).from_address(address)
    strided = np.lib.stride_tricks.as_strided(
        np.frombuffer(memoryview(memory), stored),
        shape,
        tuple(stride * stored.itemsize for stride in strides),
        writeable=False,
    )
    return np.ascontiguousarray(strided)  # no copy if the tensor is contiguous


@cache
def _has_devices() -> bool:
    import paddle

    return bool(
        paddle.is_compiled_with_cuda()
        or paddle.is_compiled_with_xpu()
        or paddle.device.get_all_custom_device_type()
    )


def _on_host(tensor: Any) -> Any:
    """Copy a tensor to the CPU without calling hooks, because this copy is not the user's."""
    import paddle

    return DOOR.copy_to(tensor, paddle.CPUPlace(), True)  # noqa: FBT003  (blocking)
