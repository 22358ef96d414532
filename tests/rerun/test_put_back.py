"""``paddle_lab.rerun`` leaves everything as a single run would have left it."""

from __future__ import annotations

import random

import numpy as np
import paddle
import pytest

import paddle_lab
from tests.models import MODELS
from tests.rerun.alarms import alarms


class Counting(paddle.nn.Layer):
    """Keeps a count on itself, in its class, in a buffer and in a closure."""

    calls = 0

    def __init__(self):
        super().__init__()
        self.count = 0
        self.register_buffer("steps", paddle.zeros([1]))
        self.seen = []
        total = [0.0]

        def add(value):
            nonlocal total
            total = [total[0] + value]
            return total[0]

        self.add = add

    def forward(self, x):
        self.count += 1
        Counting.calls += 1
        self.steps.add_(paddle.ones([1]))
        self.seen.append(self.count)
        return x * self.count * Counting.calls * self.steps * self.add(1.0) * len(self.seen)


def test_counts_wherever_they_are_kept_are_put_back():
    layer, x = Counting(), paddle.ones([2])
    Counting.calls = 0
    trace = paddle_lab.rerun(lambda: layer(x))
    assert trace.findings == []
    assert trace.record.origin.notices == []
    assert (layer.count, Counting.calls, float(layer.steps), layer.seen) == (1, 1, 1.0, [1])
    assert layer.add(0.0) == 1.0


@pytest.mark.parametrize("name", ["lenet", "gan", "bfloat16", "recompute_reentrant"])
def test_a_step_leaves_what_it_leaves_without(name):
    def losses(*, again):
        paddle.seed(11)
        np.random.seed(11)
        random.seed(11)
        step = MODELS[name]()
        found = []

        def once():
            loss, gradients = step()
            found.append([one.numpy().tobytes() for one in (loss, *gradients.values())])

        for _ in range(3):
            paddle_lab.rerun(once) if again else once()
        return found

    assert losses(again=True) == losses(again=False)


def test_gradients_come_back_with_all_that_share_them():
    weight = paddle.create_parameter([3], "float32")
    (weight * 2).sum().backward()
    kept, before = weight.grad, weight.grad.numpy().tolist()
    address = kept.data_ptr()

    def step():
        (weight * 3).sum().backward()
        with paddle.no_grad():
            weight.grad.add_(paddle.ones([3]))

    def cleared():
        weight.clear_gradient(False)
        (weight * 5).sum().backward()

    assert alarms(paddle_lab.rerun(step)) == []
    assert weight.grad.numpy().tolist() == [value + 4 for value in before]
    assert kept.numpy().tolist() == weight.grad.numpy().tolist()
    assert kept.data_ptr() == weight.grad.data_ptr() == address
    assert alarms(paddle_lab.rerun(cleared)) == []
    assert weight.grad.numpy().tolist() == [5.0, 5.0, 5.0]


def test_gradients_from_before_that_the_code_clears_are_no_alarm():
    weight = paddle.create_parameter([3], "float32")
    sgd = paddle.optimizer.SGD(learning_rate=1.0, parameters=[weight])
    begin = weight.numpy()

    def step():
        (weight * 3).sum().backward()
        sgd.step()
        sgd.clear_grad()

    (weight * 2).sum().backward()
    trace = paddle_lab.rerun(step)
    assert alarms(trace) == []
    (notice,) = trace.record.origin.notices
    assert notice.startswith(
        "Not checked for nondeterminism: it accumulated into earlier gradients"
    )
    assert np.array_equal(weight.numpy(), begin - 5)
    trace = paddle_lab.rerun(step)
    assert alarms(trace) == []
    assert trace.record.origin.notices == []
    assert np.array_equal(weight.numpy(), begin - 5 - 3)


def test_a_graph_from_before_runs_after():
    weight = paddle.ones([3])
    weight.stop_gradient = False
    loss = (weight**2).sum()

    def step():
        with paddle.no_grad():
            return (weight.detach().clone() * 2).add_(paddle.ones([3]))

    paddle_lab.rerun(step)
    loss.backward()
    assert weight.grad.numpy().tolist() == [2.0, 2.0, 2.0]


def test_undefined_tensors_are_never_touched():
    released = paddle.ones([2])
    released._clear_data()
    holds = [paddle.Tensor(), released]

    def step():
        return len(holds), paddle.ones([2]) * 2

    assert alarms(paddle_lab.rerun(step)) == []
