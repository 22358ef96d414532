"""The gradients' values in a named region."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn

import paddle_lab
from paddle_lab.capture.evidence.gradients import kept_values


def step(net, data, *, grads):
    with paddle_lab.trace(grads=grads) as trace:
        hidden = net[0](data)
        with paddle_lab.region("head"):
            hidden.stop_gradient = False
            loss = net[1](hidden.tanh()).square().mean()
        loss.backward()
    return trace, hidden, loss


@pytest.fixture
def net():
    paddle.seed(3)
    return nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 2))


def test_a_regions_gradients_are_kept_and_their_size_is_told(net, capsys):
    data = paddle.randn([3, 4])
    trace, _, _ = step(net, data, grads="head")

    told = capsys.readouterr().err
    kept = [gradient for gradient in trace.gradients if gradient.value is not None]
    assert f"keeps the {len(kept)} gradients of region 'head'" in told
    assert f"{sum(gradient.value.nbytes for gradient in kept)} bytes" in told
    assert all(gradient.op is not None and gradient.op.region == "head" for gradient in kept)
    outside = [one for one in trace.gradients if one.op is not None and one.op.region != "head"]
    assert outside
    assert all(gradient.value is None for gradient in outside)

    # Paddle's own: what backward has accumulated into the head's weight.
    weights = [one.value for one in kept if one.shape == (5, 2) and one.parameter]
    assert len(weights) == 1
    assert np.array_equal(weights[0], net[1].weight.grad.numpy())


def test_statistics_are_those_of_what_is_kept(net):
    trace, _, _ = step(net, paddle.randn([3, 4]), grads="head")
    for gradient in trace.gradients:
        if gradient.value is not None:
            assert gradient.norm == pytest.approx(float(np.linalg.norm(gradient.value)), rel=1e-5)


def test_too_much_is_not_kept_and_the_trace_says_so(net, monkeypatch):
    monkeypatch.setattr(kept_values, "MOST_BYTES", 8)
    trace, _, _ = step(net, paddle.randn([3, 4]), grads="head")
    assert len(trace.gradients) > 0
    assert all(gradient.value is None for gradient in trace.gradients)
    assert any("were not kept" in notice for notice in trace.record.origin.notices)


def test_without_a_region_no_gradient_is_kept(net, tmp_path):
    trace, _, _ = step(net, paddle.randn([3, 4]), grads=True)
    assert all(gradient.value is None for gradient in trace.gradients)
    kept, _, _ = step(net, paddle.randn([3, 4]), grads="head")
    loaded = paddle_lab.load(kept.save(tmp_path / "kept.pltrace"))
    assert all(gradient.value is None for gradient in loaded.gradients)
