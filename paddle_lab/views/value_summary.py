"""Summarises a tensor's value for the page: statistics, a histogram, and one slice of it."""

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
_LARGEST_IMAGE_SIDE: Final = 256
_LEAST_IMAGE_SIDE: Final = 16
_AT_ONCE: Final = 1 << 20
_LEAST_EXPONENT: Final = -1074
_LARGEST_EXACT: Final = 2**53


def value_statistics(array: Array) -> dict[str, Any]:
    """Return the statistics of all elements, as JSON; of complex numbers, of their magnitudes."""
    flat = array.reshape(-1)
    zeros = nans = infs = count = 0
    mean = squares = 0.0
    least, most = math.inf, -math.inf
    bins = np.zeros((2, 2100), np.int64)
    for start in range(0, flat.size, _AT_ONCE):
        part = flat[start : start + _AT_ONCE]
        finite = _real(part[np.isfinite(part)]).astype(np.float64)
        nans += int(np.isnan(part).sum())
        infs += int(np.isinf(part).sum())
        zeros += int((part == 0).sum())
        if not finite.size:
            continue
        least, most = min(least, finite.min()), max(most, finite.max())
        step = finite.mean() - mean
        total = count + finite.size
        squares += ((finite - finite.mean()) ** 2).sum() + step**2 * count * finite.size / total
        mean += step * finite.size / total
        count = total
        exponents = np.frexp(finite)[1] - 1 - _LEAST_EXPONENT
        for sign, side in enumerate((finite < 0, finite > 0)):
            bins[sign] += np.bincount(exponents[side], minlength=bins.shape[1])
    used = np.flatnonzero(bins.any(axis=0))
    span = range(used[0], used[-1] + 1) if len(used) else ()
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "elements": int(array.size),
        "zeros": zeros,
        "nans": nans,
        "infs": infs,
        "statistics": [float(least), float(most), float(mean), math.sqrt(squares / count)]
        if count
        else None,
        "bins": [[at + _LEAST_EXPONENT, int(bins[0, at]), int(bins[1, at])] for at in span],
    }


def value_slice(
    array: Array, position: Sequence[int], told: dict[str, Any]
) -> tuple[dict[str, Any], list[bytes]]:
    """Return one slice, which has the last two axes: some cells as numbers, all cells as a picture.

    Parameters
    ----------
    position
        The slice's place on each axis; on the last two axes, where its numbers begin.
    told
        The array's statistics.

    Returns
    -------
    tuple
        JSON, and two buffers: the heat map's pixels as float64, and an image's pixels as RGBA.
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
    most = MOST_PIXELS if min(plane.shape) <= MOST_PIXELS // 2 else MOST_PIXELS // 2
    steps = [max(1, math.ceil(size / most)) for size in plane.shape]
    pixels = _real(plane).astype(np.float64) if max(steps) == 1 else _means(_real(plane), steps)
    image, colours = _image(array, outer[0] if outer else 0, told)
    found = {
        "axes": list(spread.shape),
        "position": picked,
        "cells": [[_cell(cell) for cell in one] for one in cells.tolist()],
        "steps": steps,
        "pixels": list(pixels.shape),
        "image": image,
    }
    return found, [np.ascontiguousarray(pixels).tobytes(), colours]


def _real(array: Array) -> Array:
    return np.abs(array) if array.dtype.kind == "c" else array


def _means(plane: Array, steps: Sequence[int]) -> Array:
    """Return the means of blocks. A block that is not finite throughout has no finite mean."""
    with np.errstate(invalid="ignore", over="ignore"):
        for axis, step in enumerate(steps):
            starts = np.arange(0, plane.shape[axis], step)
            counts = np.minimum(step, plane.shape[axis] - starts)
            counts = counts.reshape((-1, 1) if axis == 0 else (1, -1))
            plane = np.add.reduceat(plane, starts, axis=axis, dtype=np.float64) / counts
    return plane


def _image(array: Array, batch: int, told: dict[str, Any]) -> tuple[dict[str, Any] | None, bytes]:
    """Return an image if the array looks like images: 16 x 16 or larger, 1, 3 or 4 channels.

    Its elements must be uint8 or finite floats. Three axes, and a fourth channel, which is opacity,
    are less certain: their values must be uint8 or from 0 to 1.
    """
    statistics, is_bytes = told["statistics"], array.dtype == np.uint8
    is_float = array.dtype.kind == "f" and not told["nans"] + told["infs"]
    if array.ndim not in (3, 4) or not statistics or not (is_bytes or is_float):
        return None, b""
    least, most = statistics[:2]
    is_bounded = is_bytes or (least >= 0 and most <= 1)
    known = {3, 1, 4} if is_bounded else {3, 1}
    axes = {-3: array.shape[-2:], -1: array.shape[-3:-1]}
    found = [
        axis
        for axis, size in axes.items()
        if array.shape[axis] in known and min(size) >= _LEAST_IMAGE_SIDE
    ]
    if not found or (array.ndim == 3 and not is_bounded):
        return None, b""
    axis, channels = found[0], array.shape[found[0]]
    whole = np.moveaxis(array[batch] if array.ndim == 4 else array, axis, -1)
    step = math.ceil(max(axes[axis]) / _LARGEST_IMAGE_SIDE)
    drawn = whole[::step, ::step].astype(np.float64)
    if not is_bytes:
        low, high = (0, 1) if is_bounded else (least, most)
        drawn = (drawn - low) / (high - low) * 255
    colours = np.full((*drawn.shape[:2], 4), 255, np.uint8)
    colours[..., : max(3, channels)] = np.rint(drawn)
    image = {
        "axis": array.ndim + axis,
        "channels": channels,
        "is_scaled": not is_bounded,
        "step": step,
        "pixels": list(colours.shape[:2]),
    }
    return image, colours.tobytes()


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
