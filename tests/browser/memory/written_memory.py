"""Traces with memory, written by hand."""

from __future__ import annotations

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter

MIB = 2**20


def written_steps() -> RecordWriter:
    """Write a parameter of 8 MiB, an activation of 4 MiB from 10 to 90 µs, a temporary of 1 MiB."""
    w = RecordWriter()
    w.row("sources", file="cell", cell=4, first_line=1, text="x = data()\ny = net(x)\n")
    with w.layer("net", "Linear"):
        weight = w.parameter("net.weight")
        x = w.op("full", line=1)
        y = w.op("matmul", x, weight, line=2)
    node = w.grad_node("MatmulGradNode", w.producer(y))
    w.backward(node)
    w.allocation(8 * MIB, tensor=weight, kind="parameter", start_ns=-1, address=0)
    w.allocation(4 * MIB, tensor=y, kind="saved_activation", start_ns=10_000, end_ns=90_000, line=2)
    op = w.producer(y)
    w.allocation(MIB, op=op, kind="temporary", start_ns=20_000, end_ns=40_000, line=2)
    w.allocation(2 * MIB, op=op, grad_node=node, kind="gradient", start_ns=80_000, phase="backward")
    w.memory_total(0, 8 * MIB, 16 * MIB)
    w.memory_total(100_000, 10 * MIB, 16 * MIB)
    w.step(95_000)
    w.holder(3, "variable", "net.weight.grad")
    return w


def steps() -> Trace:
    """Return the trace of these blocks."""
    return Trace(written_steps().record())


def many_blocks() -> Trace:
    """Return the same trace, followed by more blocks than a page reads at once."""
    w = written_steps()
    for at in range(50_000):
        start_ns = 100_000 + at * 10
        w.allocation(256, op=1, kind="temporary", start_ns=start_ns, end_ns=start_ns + 5)
    return Trace(w.record())


def many_ops() -> Trace:
    """Return 150 ops that allocate more and more; what the first one made is freed at the end."""
    w = RecordWriter()
    for at in range(150):
        w.op("relu")
        end_ns = 180_000 if at == 0 else -1
        w.allocation((at + 1) * 1024, op=at, start_ns=at * 1000, end_ns=end_ns)
    w.memory_total(0, 0, 0)
    w.memory_total(200_000, 0, 0)
    return Trace(w.record())
