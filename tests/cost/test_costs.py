"""Costs of ops and grad nodes, in traces written by hand and in real ones."""

from __future__ import annotations

import paddle
import pytest
from paddle import nn
from paddle.nn import functional

import paddle_lab
from paddle_lab.analysis.cost import grad_node_costs, op_costs, parameters
from paddle_lab.analysis.cost.formulas import BACKWARD, FORWARD
from paddle_lab.trace.record import Record
from tests.trace.records import RecordWriter


def totals(record: Record) -> tuple[int, int, int, int]:
    """Return flops and macs of all ops, and of all grad nodes."""
    forward, backward = op_costs(record), grad_node_costs(record)
    assert (forward["flops"] >= 0).all()
    assert (backward["flops"] >= 0).all()
    both = ((costs, column) for costs in (forward, backward) for column in ("flops", "macs"))
    return tuple(int(costs[column].sum()) for costs, column in both)


def test_an_op_without_a_formula_is_named_and_never_zero() -> None:
    w = RecordWriter()
    x = w.tensor()
    w.op("mystery", x)
    w.op("mystery", w.op("relu", x))
    trace = paddle_lab.Trace(w.record())
    assert trace.table().unknown == {"mystery": 2}
    costs = op_costs(trace.record)
    assert costs["flops"].tolist() == [-1, 6, -1]
    assert costs["macs"].tolist() == [-1, 0, -1]


def test_complex_numbers_and_failed_calls_are_unknown() -> None:
    w = RecordWriter()
    z = w.tensor(dtype="complex64")
    w.op("multiply", z, z)
    w.op("transpose", z)
    w.op("matmul", w.tensor(), outputs=0)
    assert op_costs(w.record())["flops"].tolist() == [-1, 0, -1]


def test_equal_calls_with_other_attributes_differ() -> None:
    w = RecordWriter()
    x, y = w.tensor(shape=[4, 5]), w.tensor(shape=[4, 6])
    w.op("matmul", x, y, shape=[5, 6], attributes="transpose_x=True")
    w.op("matmul", w.tensor(shape=[5, 4]), y, shape=[5, 6])
    w.op("matmul", x, w.tensor(shape=[5, 6]), shape=[4, 6])
    assert op_costs(w.record())["macs"].tolist() == [120, 120, 120]


def test_every_formula_is_of_an_op_that_paddle_has() -> None:
    names = {*dir(paddle._C_ops), "getitem", "setitem", "clone"}
    assert not [name for name in (*FORWARD, *BACKWARD) if not {name, f"{name}_"} & names]


@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        ([nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5)], [3, 6]),
        ([nn.Conv2D(3, 8, 3), nn.ReLU(), nn.Conv2D(8, 4, 3, stride=2)], [2, 3, 12, 12]),
        ([nn.Conv2D(4, 8, 3, groups=2), nn.Conv2D(8, 8, 3, groups=8)], [2, 4, 12, 12]),
        ([nn.Conv1D(3, 8, 3), nn.Conv1DTranspose(8, 4, 3, stride=2)], [2, 3, 12]),
        ([nn.Conv3D(2, 4, 3), nn.Conv3DTranspose(4, 2, 2)], [1, 2, 6, 6, 6]),
    ],
)
def test_backward_is_twice_forward_without_the_first_input(
    layers: list[nn.Layer], shape: list[int]
) -> None:
    net, x = nn.Sequential(*layers), paddle.randn(shape)
    with paddle_lab.trace(check="none") as trace:
        net(x).sum().backward()
    macs = op_costs(trace.record)["macs"]
    _, forward, _, backward = totals(trace.record)
    assert backward == 2 * forward - int(macs[macs > 0][0])
    x.stop_gradient = False
    with paddle_lab.trace(check="none") as trace:
        net(x).sum().backward()
    _, forward, _, backward = totals(trace.record)
    assert backward == 2 * forward


def test_the_ops_inside_a_pylayer_count_once() -> None:
    class Twice(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_, x):
            return x * 2

        @staticmethod
        def backward(_, grad):
            return grad * 2

    class Outside(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_, x):
            return paddle.Tensor(x.numpy() * 2)

        @staticmethod
        def backward(_, grad):
            return paddle.Tensor(grad.numpy() * 2)

    x = paddle.ones([3, 4])
    x.stop_gradient = False
    with paddle_lab.trace(check="none") as trace:
        Twice.apply(x).sum().backward()
    assert totals(trace.record) == (12 + 11 + 12, 0, 0, 0)
    with paddle_lab.trace(check="none") as trace:
        Outside.apply(x).sum().backward()
    assert trace.table().unknown == {"Outside": 1, "GradNodePyLayer_Outside": 1}


def test_a_shared_parameter_counts_once_in_a_model() -> None:
    weight = paddle.create_parameter([4, 4], "float32")
    sgd = paddle.optimizer.SGD(0.1, parameters=[weight])
    with paddle_lab.trace(check="none") as trace:
        for _ in range(2):  # the optimizer changes it in place
            (functional.linear(paddle.ones([2, 4]), weight) @ weight).sum().backward()
            sgd.step()
            sgd.clear_grad()
    record = trace.record
    assert parameters(record).elements.tolist() == [16] * 6
    assert parameters(record).among(range(len(record.ops))) == (16, 64)


def test_parameters_of_a_model_that_the_trace_saw_being_made_count_once() -> None:
    with paddle_lab.trace(check="none") as trace:
        net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.Flatten(), nn.Linear(16, 2))
        net(paddle.rand([2, 3, 4, 4])).sum().backward()
    trained = sum(p.numel().item() for p in net.parameters() if not p.stop_gradient)
    assert sum(trace.table("op")["parameters"]) == trained
    assert parameters(trace.record).among(range(len(trace.ops)))[0] == trained


@pytest.mark.parametrize(
    ("compute", "backward"),
    [
        (lambda x: 2 / x, 2 * 12),
        (lambda x: 2**x, 2 * 12),
        (lambda x: x ** paddle.full([], 3.0), 2 * 12),
        (lambda x: x - paddle.zeros([4], "float64"), 0),  # and casts the gradient back
    ],
)
def test_operators_with_numbers_and_other_dtypes_have_known_gradients(compute, backward) -> None:
    x = paddle.ones([3, 4])
    x.stop_gradient = False
    with paddle_lab.trace(check="none") as trace:
        compute(x).sum().backward()
    assert totals(trace.record)[2] == backward
