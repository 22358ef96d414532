"""Summarises a tensor's value for the page: statistics, a histogram, and one slice."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

MOST_ROWS: Final = 32
"""How many rows and columns of a slice are sent to the page at most."""


def value_summary(array: npt.NDArray[Any], check: str, picked: int = 0) -> dict[str, Any]:
    """Return the summary of a value as JSON.

    Parameters
    ----------
    check
        A sentence about the comparison of the value with recorded data.
    picked
        The number of the slice to show. A slice consists of the last two axes.
    """
    numbers = np.abs(array) if array.dtype.kind == "c" else array
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    plane = _planes(array)
    picked = max(0, min(picked, len(plane) - 1))
    shown = plane[picked][:MOST_ROWS, :MOST_ROWS] if len(plane) else np.zeros((0, 0))
    return {
        "kind": "value",
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "check": check,
        "elements": int(array.size),
        "zeros": int((array == 0).sum()),
        "nans": int(np.isnan(array).sum()),
        "infs": int(np.isinf(array).sum()),
        "statistics": [float(found) for found in _statistics(finite)] if finite.size else None,
        "bins": _bins(finite),
        "slices": len(plane),
        "slice": picked,
        "index": [int(at) for at in np.unravel_index(picked, array.shape[:-2])]
        if array.ndim > 2 and len(plane)
        else [],
        "plane": list(plane.shape[1:]),
        "rows": [[_cell(cell) for cell in row] for row in shown.tolist()],
    }


def _statistics(finite: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    return finite.min(), finite.max(), finite.mean(), finite.std()


def _bins(finite: npt.NDArray[np.float64]) -> list[list[int]]:
    """Return for each exponent of 2 how many values are negative, and how many are positive."""
    nonzero = finite[finite != 0]
    if not nonzero.size:
        return []
    exponents = np.frexp(nonzero)[1] - 1
    least = int(exponents.min())
    counts = [
        np.bincount(exponents[side] - least, minlength=int(exponents.max()) - least + 1)
        for side in (nonzero < 0, nonzero > 0)
    ]
    return [
        [least + at, int(negative), int(positive)]
        for at, (negative, positive) in enumerate(zip(*counts, strict=True))
    ]


def _planes(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array with three axes: slices, rows and columns."""
    columns = array.shape[-1] if array.ndim else 1
    rows = array.shape[-2] if array.ndim > 1 else 1
    return array.reshape(math.prod(array.shape[:-2]) if array.ndim > 2 else 1, rows, columns)


def _cell(value: Any) -> Any:
    """Return a value as a number, or as text if JSON has no such number."""
    if isinstance(value, complex):
        return f"{value:.4g}"
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return value if is_finite else {"nan": "NaN", "inf": "Inf", "-inf": "−Inf"}[str(value)]
