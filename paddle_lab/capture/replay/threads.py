"""The number of threads of Paddle's CPU kernels. The last bits of sums depend on this number."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any


@cache
def _openmp(paddle: Any) -> Any:
    with suppress(OSError):
        return ctypes.CDLL(os.path.join(os.path.dirname(paddle.__file__), "libs", "libiomp5.so"))
    return None


def openmp_threads(paddle: Any) -> int | None:
    """Return how many threads kernels use if the calling thread runs them; None if unknown."""
    library = _openmp(paddle)
    return None if library is None else int(library.omp_get_max_threads())


@contextmanager
def with_threads(paddle: Any, threads: int | None) -> Iterator[None]:
    """Run a ``with`` block with a given number of kernel threads; ``None`` changes nothing."""
    now = openmp_threads(paddle)
    if threads is None or now is None or now == threads:
        yield
        return
    _openmp(paddle).omp_set_num_threads(threads)
    try:
        yield
    finally:
        _openmp(paddle).omp_set_num_threads(now)
