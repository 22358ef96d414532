"""The digest of an array is the same in C and in Python, and changes with any value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle_lab.capture.evidence.values.scan import KINDS, STORED, scan
from paddle_lab.capture.native import TWINS

VERSIONS = [version for version in TWINS[scan.__name__] if version is not None]


def digests(array: np.ndarray[Any, Any], kind: str, decimals: int = -1) -> set[int]:
    address = array.ctypes.data if array.size else 0
    return {
        version(address, array.size, KINDS.index(kind), False, decimals)[9] for version in VERSIONS
    }


@pytest.mark.parametrize(("kind", "stored"), zip(KINDS, STORED, strict=True))
@pytest.mark.parametrize("decimals", [-1, 0, 3])
def test_both_versions_agree(kind: str, stored: str, decimals: int) -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 3, 1000, 20001):
        noise = rng.integers(0, 256, count * np.dtype(stored).itemsize, dtype=np.uint8)
        assert len(digests(noise.view(stored), kind, decimals)) == 1
        values = (rng.normal(size=count) * 100).astype(stored)
        assert len(digests(values, kind, decimals)) == 1


def test_value_place_and_length_change_the_digest() -> None:
    array = np.arange(7, dtype=np.float32)
    changed = array.copy()
    changed[3] = np.nextafter(array[3], np.float32(9))
    swapped = array[[1, 0, 2, 3, 4, 5, 6]].copy()
    found = [digests(one, "float32") for one in (array, changed, swapped, array[:6], array[:0])]
    assert len(set.union(*found)) == 5


def test_rounding_ignores_noise_below_the_decimals() -> None:
    array = np.array([0.1234, -5.0, np.nan, np.inf, 1e30], np.float32)
    assert digests(array, "float32", 3) == digests(array + np.float32(1e-5), "float32", 3)
    assert digests(array, "float32", 3) != digests(array + np.float32(1e-2), "float32", 3)
