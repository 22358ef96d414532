"""Makes one slice of a tensor's value ready for the page: numbers, a heat map, an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MOST_CELLS: Final = 32
"""How many rows and columns of a slice are sent to the page as numbers at most."""
MOST_PIXELS: Final = 320
"""How many rows and columns the heat map of a slice has at most; half, if both are more."""
_LEAST_IMAGE_SIDE: Final = 16
_LARGEST_EXACT: Final = 2**53


def value_slice(
    array: Array, position: Sequence[int], ends: Sequence[float] | None
) -> tuple[dict[str, Any], list[bytes]]:
    """Return one slice, which has the last two axes: some cells as numbers, all as a picture.

    Parameters
    ----------
    position
        The slice's place on each axis; on the last two axes, where its numbers begin.
    ends
        The smallest and the largest element; ``None`` if any is not finite.

    Returns
    -------
    tuple
        JSON, and two buffers of float64: the heat map, and the channels of an image.
    """
    spread = array.reshape((1,) * (2 - array.ndim) + array.shape)
    picked = [0] * spread.ndim
    for axis, size in enumerate(spread.shape):
        wanted = position[axis] if axis < len(position) else 0
        shown = 1 if axis < spread.ndim - 2 else MOST_CELLS
        picked[axis] = max(0, min(wanted, size - shown))
    *outer, row, column = picked
    plane = spread[tuple(outer)] if array.size else np.zeros((0, 0))
    cells = plane[row : row + MOST_CELLS, column : column + MOST_CELLS]
    heat, steps = _reduced(plane)
    found = {
        "axes": list(spread.shape),
        "position": picked,
        "cells": [[_cell(cell) for cell in one] for one in cells.tolist()],
        "steps": steps,
        "pixels": list(heat.shape),
        "image": None,
    }
    channels = np.zeros(0)
    image_axis = _image_axis(array, ends)
    if image_axis is not None and ends is not None:
        image = np.moveaxis(array[outer[0]] if array.ndim == 4 else array, image_axis, 0)
        channels = np.stack([_reduced(one)[0] for one in image])
        is_scaled = not _is_bounded(array, ends)
        unit = [0, 255 if array.dtype == np.uint8 else 1]
        found["image"] = {
            "axis": array.ndim + image_axis,
            "channels": len(channels),
            "is_scaled": is_scaled,
            "ends": list(ends) if is_scaled else unit,
            "pixels": list(channels.shape[1:]),
        }
    return found, [np.ascontiguousarray(heat).tobytes(), channels.tobytes()]


def _reduced(plane: Array) -> tuple[npt.NDArray[np.float64], list[int]]:
    """Return means of blocks, and a block's rows and columns. With a NaN the mean is NaN."""
    most = MOST_PIXELS if min(plane.shape) <= MOST_PIXELS // 2 else MOST_PIXELS // 2
    steps = [max(1, math.ceil(size / most)) for size in plane.shape]
    means = np.abs(plane) if plane.dtype.kind == "c" else plane
    with np.errstate(invalid="ignore", over="ignore"):
        for axis, step in enumerate(steps):
            if step > 1:
                starts = np.arange(0, plane.shape[axis], step)
                counts = np.minimum(step, plane.shape[axis] - starts)
                counts = np.expand_dims(counts, 1 - axis)
                means = np.add.reduceat(means, starts, axis=axis, dtype=np.float64) / counts
    return means.astype(np.float64), steps


def _image_axis(array: Array, ends: Sequence[float] | None) -> int | None:
    """Return the axis of 1, 3 or 4 channels, from the end, if the array looks like images.

    Images are uint8 or finite floats, at least 16 x 16. Three axes may be a batch, and a fourth
    channel, which is opacity, is rare: then the elements must be uint8 or from 0 to 1.
    """
    is_known = array.dtype == np.uint8 or array.dtype.kind == "f"
    if array.ndim not in (3, 4) or ends is None or not is_known:
        return None
    is_bounded = _is_bounded(array, ends)
    counts = {1, 3, 4} if is_bounded else {1, 3}
    for axis, size in ((-3, array.shape[-2:]), (-1, array.shape[-3:-1])):
        is_image = array.shape[axis] in counts and min(size) >= _LEAST_IMAGE_SIDE
        if is_image and (array.ndim == 4 or is_bounded):
            return axis
    return None


def _is_bounded(array: Array, ends: Sequence[float]) -> bool:
    return array.dtype == np.uint8 or (ends[0] >= 0 and ends[1] <= 1)


def _cell(value: Any) -> Any:
    """Return a value as a number, or as text if JSON or the page has no such number."""
    if isinstance(value, complex):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and abs(value) > _LARGEST_EXACT:
        return str(value)
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return value if is_finite else {"nan": "NaN", "inf": "Inf", "-inf": "−Inf"}[str(value)]
