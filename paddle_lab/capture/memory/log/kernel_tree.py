"""The kernels in Paddle's event trees as columns.

Around each call of a kernel Paddle records a host event, whose name ends with "kernel launch". With
a GPU, CUPTI also records calls of the CUDA runtime. Paddle puts each of them into the innermost
host event around it, and the kernels and copies on the device into the call that launched them,
by their correlation ids (``event_node.cc`` and ``event_python.cc`` of Paddle).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_lab.capture.door import DOOR
from paddle_lab.capture.memory.log.events import DeviceKernels, Int64s, KernelCalls

_CALL_SUFFIX = "launch"


def read_kernels(trees: dict[int, Any]) -> tuple[KernelCalls, DeviceKernels]:
    """Return the kernels of event trees; times are of the wall clock.

    Parameters
    ----------
    trees
        By thread. The caller holds the profiler's result, which owns them.
    """
    types = DOOR.event_types
    call_types = {types.DygraphKernelLaunch, types.StaticKernelLaunch}
    calls: list[tuple[int, int, int]] = []
    on_device: list[tuple[int, int, int, int, int, bool]] = []
    for thread, root in trees.items():
        pending = [(root, False)]
        while pending:
            node, is_inside = pending.pop()
            for launch in node.runtime_node:
                launch_ns = launch.start_ns
                for kernel in launch.device_node:
                    is_kernel = kernel.type == types.Kernel
                    times = kernel.start_ns, kernel.end_ns
                    on_device.append((launch_ns, thread, kernel.device_id, *times, is_kernel))
            if not is_inside and node.name.endswith(_CALL_SUFFIX) and node.type in call_types:
                calls.append((node.start_ns, node.end_ns, thread))
                is_inside = True  # a kernel that a kernel calls is a part of it
            pending.extend((child, is_inside) for child in node.children_node)
    call_columns = np.array(calls, np.int64).reshape(-1, 3).T
    device_columns = np.array(on_device, np.int64).reshape(-1, 6).T
    return KernelCalls(*call_columns), _kernels(*device_columns)


def _kernels(
    launch_ns: Int64s,
    thread: Int64s,
    device: Int64s,
    start_ns: Int64s,
    end_ns: Int64s,
    is_kernel: Int64s,
) -> DeviceKernels:
    """Return the kernels among the activities on devices, and the gap before each."""
    gap_ns = np.zeros_like(start_ns)
    for number in np.unique(device):
        rows = np.flatnonzero(device == number)
        rows = rows[np.argsort(start_ns[rows], kind="stable")]
        busy_until_ns = np.maximum.accumulate(end_ns[rows])
        gap_ns[rows[1:]] = np.maximum(start_ns[rows[1:]] - busy_until_ns[:-1], 0)
    kept = is_kernel > 0
    return DeviceKernels(launch_ns, thread, end_ns - start_ns, gap_ns).chosen(kept)
