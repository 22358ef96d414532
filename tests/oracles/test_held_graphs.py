"""The bytes reported for backward graphs, compared with Paddle's counter when graphs are freed."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache
from typing import Any

import paddle
import pytest
from paddle import nn
from paddle.nn import functional as F

import paddle_lab
from paddle_lab.analysis.findings.facts import ACTIVATION, Facts
from paddle_lab.analysis.findings.lifetimes.held_graphs import HeldGraphs
from paddle_lab.analysis.findings.lifetimes.steps import Steps


def allocated() -> int:
    gc.collect()
    return paddle.base.core.host_memory_stat_current_value("Allocated", 0)


def told_and_counted(work: Callable[[], Any]) -> tuple[int, int]:
    """Return the bytes that the graphs of a function's result hold: as reported, and as counted."""
    work()  # what Paddle makes once
    with paddle_lab.trace(check="none") as trace:
        result = work()
    facts = Facts(trace.view_record)
    kept = [one for one in facts.living if facts.tensor_kind(one) == ACTIVATION]
    kept = [one for one in kept if facts.needs_grad(one)]
    graphs = HeldGraphs(facts, Steps(facts))
    told = graphs.bytes_behind(kept, facts.op_count + 1) + graphs.own_bytes(kept)
    before = allocated()
    del result
    return told, before - allocated()


NET = nn.Sequential(
    nn.Linear(64, 128), nn.Tanh(), nn.LayerNorm(128), nn.Dropout(0.2), nn.Linear(128, 64)
)
CONVOLUTIONS = nn.Sequential(
    nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(8, 8, 3), nn.GELU()
)
INPUTS = paddle.randn([64, 64])


@cache
def encoder() -> nn.Layer:
    """Made when it is used: PaddleFormers, once imported, runs those made since alone."""
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64), 2)


def loss() -> Any:
    return F.mse_loss(NET(INPUTS), INPUTS)


def after_backward(*, retain_graph: bool) -> Any:
    kept = loss()
    kept.backward(retain_graph=retain_graph)
    NET.clear_gradients()
    return kept


def total(step: Callable[[], Any]) -> Any:
    kept = paddle.zeros([])
    for _ in range(4):
        kept = kept + step()
    return kept


def batches() -> list[Any]:
    return [NET(paddle.randn([32, 64])).square().mean() for _ in range(3)]


def asked_for_gradients() -> Any:
    inputs = paddle.randn([32, 64])
    inputs.stop_gradient = False
    kept = NET(inputs).sum()
    paddle.grad(kept, inputs)  # which runs a copy of the graph
    return kept


def every_second_without_backward() -> list[Any]:
    optimizer = paddle.optimizer.SGD(0.1, parameters=NET.parameters())
    kept = []
    for step in range(6):
        kept.append(loss())
        if step % 2:
            kept[-1].backward()
            optimizer.step()
            optimizer.clear_grad()
    return kept


HOLDING = {
    "no backward": loss,
    "retained": lambda: after_backward(retain_graph=True),
    "total": lambda: total(loss),
    "batches that are gone": batches,
    "an optimizer between": every_second_without_backward,
    "paddle.grad": asked_for_gradients,
    "convolutions": lambda: CONVOLUTIONS(paddle.randn([4, 3, 20, 20])).mean(),
    "transformer": lambda: encoder()(paddle.randn([2, 10, 32])).mean(),
}
FREED = {
    "one": lambda: after_backward(retain_graph=False),
    "several": lambda: [after_backward(retain_graph=False) for _ in range(5)],
    "total": lambda: total(lambda: after_backward(retain_graph=False)),
}


@pytest.mark.parametrize("name", HOLDING)
def test_what_is_held(name: str) -> None:
    told, counted = told_and_counted(HOLDING[name])
    # What an op saves that no Python sees is left out, and what may share the memory of its input.
    assert 0.75 * counted <= told <= counted


@pytest.mark.parametrize("name", FREED)
def test_what_backward_freed(name: str) -> None:
    told, counted = told_and_counted(FREED[name])
    assert told == counted < 64
