"""An op that rounds more than it should introduces a difference; the ops after it inherit it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import paddle

import paddle_lab
from paddle_lab.capture.door import DOOR
from paddle_lab.capture.hooks.hooks import HOOKS


@contextmanager
def rounding(name: str) -> Iterator[None]:
    """Let an op round its output to bfloat16."""
    original = getattr(paddle._C_ops, name)

    def rounded(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if made.dtype == paddle.float32:
            memory = (ctypes.c_uint32 * int(made.size)).from_address(made.data_ptr())
            np.frombuffer(memory, np.uint32)[:] &= 0xFFFF0000
        return made

    rounded.__name__ = name
    modules = (DOOR.eager_ops, DOOR.pir_ops, paddle._C_ops)
    spaces = [space for space in map(vars, modules) if space.get(name) is original]
    HOOKS._op_hooks = None  # they are made once, from the ops that there are then
    for space in spaces:
        space[name] = rounded
    try:
        yield
    finally:
        for space in spaces:
            space[name] = original
        HOOKS._op_hooks = None


def traced(*, replay: bool) -> paddle_lab.Trace:
    rng = np.random.default_rng(0)
    x, w = (paddle.to_tensor(rng.normal(size=[8, 8]).astype(np.float32)) for _ in range(2))
    with (
        paddle_lab.trace(digest="part", replay=replay, check="none") as trace,
        paddle_lab.region("part"),
    ):
        y = paddle.tanh(paddle.matmul(x, w))
        z = paddle.matmul(y, w) * 0.5
        paddle.mean(paddle.nn.functional.relu(z) + y)
    return trace


def test_the_op_that_rounds_introduces_the_difference() -> None:
    before = traced(replay=False)
    with rounding("tanh"):
        after = traced(replay=True)
    comparison = paddle_lab.compare(before, after)
    origins = {row.name: row.origin for row in comparison.rows if row.state == "different"}
    assert origins.pop("tanh") == "introduced"
    assert len(origins) == 5
    assert set(origins.values()) == {"inherited"}
    told = comparison.record.origin.notices[-1]
    assert told.startswith("1 op introduces a difference, 5 inherit it; `tanh`")
    assert comparison.rows[1].max_rel < 2.0**-7
