"""A shell with a small network, and the network's memory."""

from __future__ import annotations

import gc

from paddle.base import core

import paddle_lab

SETUP = """import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(256, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 256))
x = paddle.ones([512, 256])
"""
X_BYTES = 512 * 256 * 4


def allocated() -> int:
    gc.collect()
    count: int = core.host_memory_stat_current_value("Allocated", 0)
    return count


def held(trace: paddle_lab.Trace) -> dict[tuple[str, str], int]:
    """Map each holder (kind and name) to the bytes that it holds of the cell's allocations."""
    alive = set(trace.memory.still_alive().keys.tolist())
    return {
        (holder.kind, holder.name): sum(
            block.bytes for block in holder.allocations if block.key in alive
        )
        for holder in trace.memory.holders()
    }
