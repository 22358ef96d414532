"""``trace.kernels``: the kernel times of each op and grad node."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.analysis.kernels.roofline import took_ns
from paddle_lab.analysis.tables import cells
from paddle_lab.analysis.tables.columns import Values
from paddle_lab.analysis.tables.data_frames import attributes
from paddle_lab.analysis.tables.op_rows import OpRow, OpRowTable
from paddle_lab.analysis.tables.text_table import ROWS_SHOWN, Report, header
from paddle_lab.trace.floats import from_bits
from paddle_lab.words import say

_FRAME_COLUMNS = (
    "name", "op_key", "grad_node", "layer", "file", "line", "kernel_ns", "launches", "runs",
    "host_ns", "first_kernel_ns", "device_kernels", "device_ns", "gap_ns", "roofline_share",
)  # fmt: skip


class KernelTime(OpRow):
    """The kernels of one op or grad node, or all kernels outside of ops and grad nodes."""

    __slots__ = ()
    _table_name = "kernel_times"

    grad_node = cells.optional(doc="Row of the grad node in ``grad_nodes``, None for an op.")
    runs = cells.number(doc="How often the op or grad node ran with a kernel.")
    launches = cells.number(doc="How many of Paddle's kernels were called.")
    host_ns = cells.number(doc="Host time of these calls; on the CPU the kernels ran in them.")
    first_kernel_ns = cells.optional(doc="From its start to its first kernel; None if unknown.")
    device_kernels = cells.optional(doc="Kernels on the device; None if no device was recorded.")
    device_ns = cells.optional(doc="How long they ran; None if no device was recorded.")
    gap_ns = cells.optional(doc="How long the device was idle before them; None without device.")

    @property
    def op_key(self) -> int | None:
        """The key of the op; None for other rows."""
        key = self._cell("op")
        return key if key >= 0 else None

    @property
    def kernel_ns(self) -> int:
        """The time of the kernels: on the device if it was recorded, otherwise on the host."""
        return self.host_ns if self.device_ns is None else self.device_ns

    @property
    def roofline_share(self) -> float | None:
        """The shortest possible time divided by the kernels' time; None if unknown.

        More than 1 if data came from a cache. See :mod:`paddle_lab.analysis.kernels.roofline`.
        """
        share = float(from_bits(self._record.roofline_shares["share"][[self.key]])[0])
        return None if share < 0 else share

    @property
    def name(self) -> str:
        """The name of the op or grad node, ``""`` for kernels outside of them."""
        return str(self._table.names(np.array([self.key]))[0])

    def __repr__(self) -> str:
        name = self.name or say("reports.outside_ops")
        return f"<KernelTime {self.key}: {name}, {self.kernel_ns / 1e3:,.1f} µs>"


class KernelTable(OpRowTable[KernelTime]):
    """The times of kernels, the longest first. It is empty without ``profile=True``."""

    _table_name = "kernel_times"
    _index = "kernel_time"
    _row_type = KernelTime

    def __init__(self, record: Any, keys: Any = None) -> None:
        super().__init__(record, keys)
        if keys is None:
            self.keys = np.argsort(-took_ns(record), kind="stable").astype(np.int32)

    def _columns(self) -> dict[str, Values]:
        return {"kernel_time": self.keys, **attributes(self, _FRAME_COLUMNS)}

    def _report(self) -> Report:
        if not len(self.record.kernel_times):
            return Report(say("reports.no_kernels"))
        rows = [
            (
                row.name or say("reports.outside_ops"),
                row.layer,
                f"{row.kernel_ns / 1e3:,.1f} µs",
                f"{row.launches:,}",
                "–" if row.roofline_share is None else f"{row.roofline_share:.0%}",
                row.where,
            )
            for row in self[:ROWS_SHOWN]
        ]
        names = header("reports", "name", "layer", "kernel_time", "launches", "roofline", "line")
        total_ns = int(took_ns(self.record)[self.keys].sum())
        owners = sum(bool(row.name) for row in self)
        title = say("reports.kernels", n=owners, time=f"{total_ns / 1e6:,.2f} ms")
        return Report(title, names, rows, (2, 3, 4), len(self))
