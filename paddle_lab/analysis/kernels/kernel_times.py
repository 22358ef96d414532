"""How long kernels took: of each row of ``kernel_times``, of each op and of each grad node."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.record import Record

Times = npt.NDArray[np.int64]


def took_ns(record: Record) -> Times:
    """Return the time of each row: on the device if one was recorded, else on the host."""
    times = record.kernel_times
    found: Times = np.where(times["device_ns"] < 0, times["host_ns"], times["device_ns"])
    return found


def kernel_ns(record: Record, owner: str) -> Times:
    """Return the time of the kernels of each op or grad node; -1 for all without ``profile=True``.

    Parameters
    ----------
    record
        The record.
    owner
        ``"op"`` or ``"grad_node"``.
    """
    count = len(record.tables[f"{owner}s"])
    if not len(record.kernel_times):
        return np.full(count, -1)
    key: npt.NDArray[Any] = record.kernel_times[owner]
    sums = np.zeros(count, np.int64)
    np.add.at(sums, key[key >= 0], took_ns(record)[key >= 0])
    return sums
