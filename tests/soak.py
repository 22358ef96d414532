"""Traces one small training step thousands of times in one process: its memory must not grow.

``python -m tests.soak`` traces 2,000 times, and 2,000 times with memory. It compares the memory of
the process after a quarter of the traces with its memory at the end.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from typing import Any

import paddle
import psutil
from paddle import nn

import paddle_lab

ALLOWED_BYTES = {"trace": 1024, "memory": 4096}
"""What one trace may leave behind. With memory it leaves about 3.5 kB; their owner is not known."""
EVENT_BYTES = 128
"""What Paddle never frees of each allocator event: see ``capture/memory/log/allocator_log.py``."""


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.LayerList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, data: Any) -> Any:
        for linear in self.linears:
            data = nn.functional.relu(linear(data)) + data
        return data


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(_, value):
        return value * 2

    @staticmethod
    def backward(_, gradient):
        return gradient * 2


def training_step() -> Callable[[], None]:
    """Return a step with layers, loops, slices, in-place ops, a PyLayer, double grad and Adam."""
    net = Block()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    data = paddle.rand([4, 8])
    data.stop_gradient = False

    def step() -> None:
        hidden = net(data)
        parts = paddle.split(hidden, 2, axis=1)
        total = Doubled.apply(parts[0]).sum() + parts[1].add_(paddle.ones([4, 4])).mean()
        for number in range(3):
            total = total + (hidden[number] ** 2).mean()
        (slope,) = paddle.grad(total, [data], create_graph=True)
        (total + slope.mean()).backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def resident_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)


def soak(guard: Callable[[], Any], traces: int) -> tuple[float, float]:
    """Return what a trace has left behind, and the number of allocator events it received."""
    step = training_step()
    events, before = 0, 0
    first = traces // 4
    for number in range(traces):
        if number == first:
            before = resident_bytes()
        with guard() as trace:
            step()
        if number >= first:
            blocks = trace.record.allocations
            events += int((blocks["start_ns"] >= 0).sum() + (blocks["end_ns"] >= 0).sum())
    measured = traces - first
    return (resident_bytes() - before) / measured, events / measured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=2000)
    traces: int = parser.parse_args().traces
    failed = False
    for name, guard in (("trace", paddle_lab.trace), ("memory", paddle_lab.memory)):
        grown, events = soak(guard, traces)
        own = grown - EVENT_BYTES * events
        failed |= own > ALLOWED_BYTES[name]
        sys.stdout.write(
            f"paddle_lab.{name}(): {grown:,.0f} bytes a trace, of which Paddle keeps"
            f" {EVENT_BYTES * events:,.0f} for {events:,.0f} allocator events\n"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
