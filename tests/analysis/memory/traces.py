"""Traces with memory, written by hand, and a slow and simple way to sum them up."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter

Lifetime = tuple[int, int, int]
"""Size in bytes, start and end in ns; -1 as in the record."""


def trace_of(lifetimes: Sequence[Lifetime], *, counted: int | None = None) -> Trace:
    """Return a trace with these blocks. ``counted`` is the first value of Paddle's counter."""
    w = RecordWriter()
    if counted is not None:
        w.memory_total(0, counted, counted)
    for size, start_ns, end_ns in sorted(lifetimes, key=lambda block: block[1]):
        w.allocation(size, start_ns=start_ns, end_ns=end_ns)
    return Trace(w.record())


def alive_bytes(lifetimes: Sequence[Lifetime], time_ns: int) -> int:
    """Return the sum of the blocks that are alive at a moment."""
    return sum(
        size for size, start, end in lifetimes if start <= time_ns and not 0 <= end <= time_ns
    )


def training_step() -> Trace:
    """Return a step of a small net: a parameter, what backward needs, a gradient, a result."""
    w = RecordWriter()
    source = "net = Net()\n\nh = net(x)\ny = relu(h)\n"
    w.row("sources", file="cell", cell=4, first_line=1, text=source)
    weight = w.parameter("net.fc.weight", (100, 100))
    w.allocation(40_000, tensor=weight, kind="parameter", start_ns=-1)
    w.memory_total(0, 50_000, 50_000)
    with w.layer("net", "Net"):
        with (
            w.layer("net.fc", "Linear"),
            w.call("linear", line=3, file="paddle/f.py", kind="paddle"),
        ):
            h = w.op("linear", weight, line=50, shape=(4, 2))
            w.allocation(100_000, tensor=h, kind="saved_activation", end_ns=5000)
            w.allocation(30_000, op=0, start_ns=100, end_ns=900)
        y = w.op("relu", h, line=4)
        result = w.allocation(50_000, tensor=y, start_ns=1200)
    node = w.grad_node("MatmulGradNode", 0)
    w.backward(node, line=9)
    gradient = w.tensor("net.fc.weight@GRAD", kind="gradient")
    w.allocation(
        40_000,
        op=0,
        tensor=gradient,
        grad_node=node,
        phase="backward",
        kind="gradient",
        start_ns=3000,
    )
    w.holder(result, "variable", "y")
    return Trace(w.record())
