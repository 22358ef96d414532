"""Each kernel of a profiled run and its caller, from the trace and from Paddle's profiler."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import paddle_lab
from paddle_lab.capture.kernels import capture
from paddle_lab.capture.kernels.assembly import KernelOwners
from tests.oracles.kernel_events import OUTSIDE, KernelEvent, kernel_events

if TYPE_CHECKING:
    import pytest

OPERATORS = {
    "__add__ or __radd_": "add", "__sub__": "subtract", "__rsub__": "subtract",
    "__mul__": "multiply", "__div__": "divide", "__rdiv__": "divide", "__mod__": "remainder",
    "__matmul__": "matmul", "__rpow__": "pow", "__ne__": "not_equal", "__gt__": "greater_than",
    "__lt__": "less_than", "__le__": "less_equal", "__ge__": "greater_equal", "__eq__": "equal",
}  # fmt: skip
"""The profiler's names of Python's operators, and those of their ops."""
CALLED_INSIDE = {
    "linear": {"matmul", "add"},
    "getitem": {"slice", "strided_slice", "unsqueeze", "index_elementwise_get", "masked_select"},
    "clone": {"assign"},
    "paddle.grad": {OUTSIDE},  # the gradient that it begins with
}
"""Ops that have no event of their own, and the ones that they call."""


class Kernel(NamedTuple):
    event: KernelEvent
    op: int
    grad_node: int
    name: str
    """The recorded op or grad node to which the trace gives the kernel."""

    @property
    def is_right(self) -> bool:
        """Whether the profiler names the same op or grad node."""
        caller = self.event.caller
        named = OPERATORS.get(caller, caller)
        if named == self.name or caller in CALLED_INSIDE.get(self.name, ()):
            return True
        # Recomputation calls ops that have no event of their own from inside a grad node.
        is_in_node = self.op >= 0 and caller.startswith("Global_")
        return is_in_node and self.event.op in CALLED_INSIDE.get(self.name, ())


def profiled(
    monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]
) -> tuple[paddle_lab.Trace, list[Kernel]]:
    """Return the trace of some work, and its kernels by start."""
    segments: list[Any] = []
    owned: list[Any] = []
    read, find = capture.read_kernel_segments, KernelOwners.find

    def read_and_keep(found, **options):
        segments.extend(map(copy, found))  # reading them lets go of the results
        return read(found, **options)

    def find_and_keep(self, time_ns, thread):
        found = find(self, time_ns, thread)
        owned.append((time_ns, found))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(capture, "read_kernel_segments", read_and_keep)
        patch.setattr(KernelOwners, "find", find_and_keep)
        with paddle_lab.trace(profile=True) as trace:
            work()
    record, events = trace.record, kernel_events(segments)
    time_ns, found = owned[0]
    order = np.argsort(time_ns, kind="stable").tolist()
    assert len(order) == len(events)
    kernels = []
    for row, event in zip(order, events, strict=True):
        op, node = int(found.op[row]), int(found.grad_node[row])
        name = OUTSIDE
        if op >= 0:
            name = record.text(int(record.ops["name"][op]))
        elif node >= 0:
            name = f"Global_{record.text(int(record.grad_nodes['name'][node]))}"
        kernels.append(Kernel(event, op, node, name))
    return trace, kernels


def misplaced(kernels: list[Kernel]) -> list[Kernel]:
    """Return kernels under an op of another name, or under the op of another call."""
    calls = defaultdict(set)
    for kernel in kernels:
        calls[kernel.op, kernel.grad_node].add(kernel.event.call_ns)
    return [
        kernel
        for kernel in kernels
        if not kernel.is_right
        or (
            len(calls[kernel.op, kernel.grad_node]) > 1
            and kernel.name != OUTSIDE
            and kernel.name not in CALLED_INSIDE
        )
    ]
