"""Paddle's defects that checks report: a test that fails says that Paddle has mended one."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn

pytestmark = pytest.mark.skipif(paddle.is_compiled_with_cuda(), reason="seen on the CPU")


def _input_gradient(layer: nn.Layer, x: np.ndarray) -> np.ndarray:
    given = paddle.to_tensor(x, stop_gradient=False)
    (layer(given) * paddle.to_tensor(x**2)).sum().backward()
    return given.grad.numpy()


def test_a_frozen_scale_of_layer_norm_is_ignored_in_the_gradient_of_the_input() -> None:
    x = np.random.RandomState(0).randn(4, 6).astype("float32")
    norm = nn.LayerNorm(6)
    norm.weight.set_value(np.linspace(1, 3, 6).astype("float32"))
    right = _input_gradient(norm, x)
    norm.weight.stop_gradient = True
    assert not np.allclose(_input_gradient(norm, x), right, rtol=1e-3)


@pytest.mark.parametrize("part", ["weight", "bias"])
def test_batch_norm_gives_no_gradient_to_one_part_if_the_other_is_frozen(part: str) -> None:
    norm = nn.BatchNorm1D(6)
    getattr(norm, part).stop_gradient = True
    norm(paddle.randn([4, 6])).square().sum().backward()
    assert norm.weight.grad is None
    assert norm.bias.grad is None


def test_categorical_samples_by_softmax_and_divides_for_log_probabilities() -> None:
    paddle.seed(0)
    given = paddle.distribution.Categorical(paddle.to_tensor([0.9, 0.05, 0.05]))
    drawn = float((given.sample([4000]) == 0).astype("float32").mean())
    looked_up = float(given.log_prob(paddle.to_tensor([0])).exp())
    assert abs(looked_up - 0.9) < 1e-3
    assert abs(drawn - 0.54) < 0.05  # softmax of 0.9, 0.05 and 0.05


def test_categorical_looks_up_each_value_of_one_axis_in_each_distribution() -> None:
    given = paddle.distribution.Categorical(paddle.rand([4, 3]))
    assert given.log_prob(paddle.to_tensor([0, 1, 2, 0])).shape == [4, 4]
