"""Stretches of addresses in which blocks lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Addresses = npt.NDArray[np.int64]

GAP_BYTES = 2 << 20
"""Blocks further apart than this lie in different ranges; Paddle's allocator grows in larger
chunks on a device, and on a host the heap and each mapping are further apart."""


def address_ranges(
    address: npt.NDArray[Any], size_bytes: npt.NDArray[Any]
) -> tuple[Addresses, Addresses]:
    """Return where ranges of blocks begin and end.

    Parameters
    ----------
    address, size_bytes
        The blocks, in any order, shape ``[blocks]``; they may overlap, as blocks of different
        times do. A block of no bytes counts as one.

    Returns
    -------
    tuple
        First address and the address after the last, ascending, int64, shape ``[ranges]`` each.
    """
    if not len(address):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = np.argsort(address)
    begin = address[order].astype(np.int64)
    reach = np.maximum.accumulate(begin + np.maximum(size_bytes[order], 1))
    is_first = np.append(True, begin[1:] - reach[:-1] > GAP_BYTES)
    firsts = np.flatnonzero(is_first)
    return begin[firsts], reach[np.append(firsts[1:], len(begin)) - 1]
