"""``trace.gradient`` against hooks on the outputs of each op of real models."""

from __future__ import annotations

import zlib

import numpy as np
import paddle
import pytest

import paddle_lab
from tests.models import MODELS
from tests.replay.kept import KeepingLog

_NODES_OF_EACH = 12


@pytest.fixture(autouse=True)
def _gradients_are_kept(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.session.CallLog", KeepingLog)


@pytest.mark.parametrize(
    "name",
    ["resnet18", "transformer_encoder", "lstm", "gan", "pinn_burgers", "gradient_accumulation",
     "in_place", "recompute_reentrant", "recompute_saved_hooks", "autoencoder", "gradient_hook",
     "sparse_values", "sparse_embedding"],
)  # fmt: skip
def test_gradients_are_those_of_the_run(name):
    step = MODELS[name]()
    with paddle_lab.trace(replay=True, check="none") as trace:
        for _ in range(2):
            step()
    log, count = trace._replay.log, 0
    members = trace.view_record.backward_members
    pairs = [
        (node, call, int(trace.record.grad_nodes["op"][node]))
        for node, call in zip(
            members["grad_node"].tolist(), members["backward_call"].tolist(), strict=True
        )
    ]
    pairs = [pair for pair in pairs if pair[2] >= 0]
    random = np.random.default_rng(zlib.crc32(name.encode()))
    for at in random.permutation(len(pairs))[:_NODES_OF_EACH].tolist():
        node, call, op = pairs[at]
        kept = log.gradients.get((int(log.row_keys[op]), 0, call))
        if kept is None:
            continue
        gradient = trace.gradient(node, call=call)
        assert gradient.tobytes() == kept.tobytes(), (node, call, trace.ops[op].name)
        count += 1
    assert count >= 5


def test_gradients_of_leaves():
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Dropout(0.5))
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    x = paddle.randn([2, 3])
    x.stop_gradient = False
    expected = []
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            net(x).square().sum().backward()
            expected.append((net[0].weight.grad.numpy(), x.grad.numpy()))
            optimizer.step()
            optimizer.clear_grad()
            x.clear_grad()
    nodes = trace.record.grad_nodes
    leaves = np.flatnonzero(nodes["parameter"] >= 0).tolist()
    found = {}
    for leaf in leaves:
        for call in range(2):
            try:
                gradient = trace.gradient(leaf, call=call)
            except paddle_lab.ReplayError:
                continue
            found.setdefault(gradient.shape, []).append(gradient)
    for call in range(2):
        weight, data = expected[call]
        assert any(np.array_equal(one, weight) for one in found[(3, 4)])
        assert any(np.array_equal(one, data) for one in found[(2, 3)])


def test_refusals():
    x = paddle.ones([2])
    x.stop_gradient = False
    outside = x * 2
    with paddle_lab.trace(replay=True) as trace:
        (outside * 3).sum().backward()
    with pytest.raises(paddle_lab.ReplayError, match="before the trace"):
        trace.gradient(0)
    with pytest.raises(IndexError):
        trace.gradient(99)


@pytest.mark.parametrize("hooked", ["none", "before", "in the trace"])
def test_gradients_that_backward_calls_leave_in_leaves(hooked):
    leaves = [paddle.create_parameter([3], "float32") for _ in range(2)]
    if hooked == "before":
        leaves[1].register_hook(lambda gradient: gradient * 3)  # the trace does not see this
    with paddle_lab.trace(replay=True) as trace:
        total = leaves[0] * leaves[0] + leaves[1] * leaves[1]
        if hooked == "in the trace":
            leaves[1].register_hook(lambda gradient: gradient * 3)
        for _ in range(2):
            total.sum().backward(retain_graph=True)
            _ = leaves[0].grad * 1, leaves[1].grad * 1
        leaves[0].clear_gradient(True)
        _ = leaves[0].grad + 1
    log = trace._replay.log
    assert bool(log.backward._gradients) is (hooked == "none")
    for row, key in enumerate(log.row_keys.tolist()):
        assert trace.value(row).tobytes() == log.outputs[key][0].tobytes(), trace.ops[row]
