"""The share of the roofline that kernels reach; 1 means as fast as this machine allows.

By the roofline model (Williams, Waterman, Patterson: "Roofline", CACM 52(4), 2009) kernels take at
least ``max(operations / peak rate, bytes / bandwidth)``. The operations are those of
:mod:`paddle_lab.analysis.cost`. The bytes are those of an op's distinct inputs and of its outputs,
each read or written once. The bytes that a grad node reads are not recorded. So only grad nodes of
matrix products and convolutions have a share, and only if operations certainly limit them. Such a
node reads as many bytes as its op read and wrote, and writes fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paddle_lab.trace.floats import float_bits
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import Table

Times = npt.NDArray[np.int64]


def took_ns(record: Record) -> Times:
    """Return the time of each row: on the device if it was recorded, otherwise on the host."""
    times = record.kernel_times
    found: Times = np.where(times["device_ns"] < 0, times["host_ns"], times["device_ns"])
    return found


def kernel_ns(record: Record, owner: str) -> Times:
    """Return the kernel time of each op or grad node; -1 for all without ``profile=True``.

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


UNKNOWN: Final = -1.0
_NOT_FLOATS: Final = ("int", "uint", "bool")

Floats = npt.NDArray[np.float64]


def roofline_shares(record: Record, costs: Mapping[str, Table]) -> Table:
    """Return the share of the roofline that each row of ``kernel_times`` reaches.

    The share is unknown if the number of operations is unknown or 0 (a copy may move any part of
    its input), if the roofline was not measured for the dtype, and for other devices.

    Parameters
    ----------
    record
        The record, with or without answer tables.
    costs
        Has the tables ``op_costs`` and ``grad_node_costs``.
    """
    times, rooflines = record.kernel_times, record.rooflines
    share = np.full(len(times), UNKNOWN)
    is_compute = np.zeros(len(times), np.bool_)
    if len(times) and len(rooflines):
        op, node = times["op"], times["grad_node"]
        is_op, is_node = op >= 0, node >= 0
        maker = np.where(is_op, op, np.append(record.grad_nodes["op"], -1)[node])
        flops = np.where(
            is_op,
            np.append(costs["op_costs"]["flops"], -1)[op],
            np.append(costs["grad_node_costs"]["flops"], -1)[node],
        )
        flops = flops * np.where(is_node, times["runs"], 1)
        compute_ns = flops / rooflines["flops_per_second"][0] * 1e9
        size, fits = _tensors(record)
        bytes_ns = size[maker] / rooflines["bytes_per_second"][0] * 1e9
        macs = np.append(costs["grad_node_costs"]["macs"], -1)[node]
        took = took_ns(record)
        is_certain = is_op | ((macs > 0) & (compute_ns >= 2 * bytes_ns))
        is_known = is_certain & (maker >= 0) & (flops > 0) & fits[maker] & (took > 0)
        bound_ns = np.maximum(compute_ns, bytes_ns)
        share[is_known] = bound_ns[is_known] / took[is_known]
        is_compute = is_known & (compute_ns >= bytes_ns)
    columns: dict[str, Any] = {"share": float_bits(share.tolist()), "is_compute": is_compute}
    return Table.from_sequences(ANSWER_TABLES["roofline_shares"], columns)


def _tensors(record: Record) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the bytes of each op's tensors, and whether the roofline covers their dtype and place.

    Both have an extra entry at the end, for the key -1.
    """
    uses, tensors, ops = record.uses, record.tensors, len(record.ops)
    rows = (uses["tensor"] >= 0) & (uses["op"] >= 0)
    distinct = np.unique(np.stack((uses["op"][rows], uses["tensor"][rows])), axis=1)
    op, tensor = distinct
    size = np.bincount(op, tensors["bytes"][tensor], minlength=ops + 1)
    dtype, place = (int(record.rooflines[name][0]) for name in ("dtype", "place"))
    others = [
        code
        for code in np.unique(tensors["dtype"]).tolist()
        if code != dtype and not record.text(code).startswith(_NOT_FLOATS)
    ]
    is_other = np.isin(tensors["dtype"], others) | (tensors["place"] != place)
    fits: npt.NDArray[np.bool_] = np.bincount(op, is_other[tensor], minlength=ops + 1) == 0
    fits[-1] = False
    return size.astype(np.float64), fits
