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
from paddle_lab.capture.rerun.fill import BYTES, filled


@contextmanager
def rounding(name: str, mask: int = 0xFFFF0000) -> Iterator[None]:
    """Let an op round its output to the bits of a mask, those of bfloat16 by default."""
    original = getattr(paddle._C_ops, name)

    def rounded(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if made.dtype == paddle.float32:
            memory = (ctypes.c_uint32 * int(made.size)).from_address(made.data_ptr())
            np.frombuffer(memory, np.uint32)[:] &= np.uint32(mask)
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


def traced(*, replay: bool, seed: int = 0) -> paddle_lab.Trace:
    rng = np.random.default_rng(seed)
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


def origins_of(before: paddle_lab.Trace, after: paddle_lab.Trace) -> list[tuple[str, str]]:
    rows = paddle_lab.compare(before, after).rows
    return [(row.name, row.origin) for row in rows if row.state == "different"]


def test_other_inputs_are_inherited_by_every_op() -> None:
    found = origins_of(traced(replay=False), traced(replay=True, seed=1))
    assert [origin for _, origin in found] == ["inherited"] * 7


def test_an_op_can_add_more_than_it_inherits_or_less() -> None:
    before = traced(replay=False)
    for mask, origin in ((0xFFF00000, "introduced"), (0xFFFFF000, "inherited")):
        with rounding("tanh"), rounding("relu", mask):
            found = origins_of(before, traced(replay=True))
        assert [name for name, one in found if one == "introduced"] == (
            ["tanh", "relu"] if origin == "introduced" else ["tanh"]
        )


def test_an_op_that_reads_nothing_introduces_though_it_has_no_float64() -> None:
    """An optimizer fills new tensors with ``full_``, whose dtype is an argument."""

    def trained(*, replay: bool) -> paddle_lab.Trace:
        weight = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        optimizer = paddle.optimizer.Adam(0.01, parameters=[weight])
        (weight * weight).sum().backward()
        with (
            paddle_lab.trace(digest="part", replay=replay, check="none") as trace,
            paddle_lab.region("part"),
        ):
            optimizer.step()
        return trace

    before = trained(replay=False)
    with rounding("full_"):
        found = origins_of(before, trained(replay=True))
    assert len(found) > 2
    assert {(name, origin) for name, origin in found if name == "full_"} == {
        ("full_", "introduced")
    }


def test_memory_that_nothing_wrote_is_no_difference() -> None:
    def made(byte: int) -> paddle_lab.Trace:
        with filled(paddle, byte), paddle_lab.trace(digest=True) as trace:
            paddle.empty([4]).fill_(2.0)
        return trace

    comparison = paddle_lab.compare(made(BYTES[0]), made(BYTES[1]))
    assert comparison.first is None, comparison.first
    assert {row.state for row in comparison.rows} == {"equal"}
