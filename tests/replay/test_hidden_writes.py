"""Values and gradients where memory is written without an op, or not where one expects."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle_lab
from tests.replay.kept import KeepingLog


@pytest.fixture(autouse=True)
def _values_are_kept(monkeypatch):
    monkeypatch.setattr("paddle_lab.capture.session.CallLog", KeepingLog)


def assert_values_are_those_of_the_run(trace, least: int) -> None:
    log, count = trace._replay.log, 0
    for row, key in enumerate(log.row_keys.tolist()):
        for output, kept in enumerate(log.outputs[key]):
            if kept is not None:
                value = trace.value(row, output)
                assert value.tobytes() == kept.tobytes(), (row, trace.ops[row].name, value, kept)
                count += 1
    assert count >= least


def gradients_of_leaves(trace, call: int) -> list[list[float]]:
    """Return the gradients that the leaves get in a backward call."""
    nodes, members = trace.record.grad_nodes, trace.view_record.backward_members
    in_call = members["grad_node"][members["backward_call"] == call].tolist()
    return [
        trace.gradient(node, call=call).tolist()
        for node in in_call
        if nodes["parameter"][node] >= 0
    ]


def parameter(*values: float):
    one = paddle.create_parameter([len(values)], "float32")
    one.set_value(np.array(values, np.float32))
    return one


def test_a_parameter_that_is_set_between_forward_and_backward():
    p, q = parameter(1, 2), parameter(3, 5)
    expected = []
    with paddle_lab.trace(replay=True) as trace:
        first = p * q
        p.set_value(np.array([7, 11], np.float32))  # the graph saved this memory
        (first + p * p).sum().backward()
        expected.append([p.grad.tolist(), q.grad.tolist()])
        _ = p.grad + 1, q.grad + 1
        p.clear_gradient(), q.clear_gradient()
        second = p * q
        p.set_value(np.array([2, 3], np.float32))  # no op reads it again
        second.sum().backward()
        expected.append([p.grad.tolist(), q.grad.tolist()])
        _ = p.grad + 1, q.grad + 1
    assert expected[1][1] == [2, 3]
    assert_values_are_those_of_the_run(trace, 8)
    for call in range(2):
        assert sorted(gradients_of_leaves(trace, call)) == sorted(expected[call])


def test_gradients_of_a_parameter_that_is_set_in_each_step():
    layer = paddle.nn.Linear(2, 1)
    expected = []
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(3):
            layer(paddle.ones([1, 2])).square().sum().backward()
            expected.append([one.grad.tolist() for one in layer.parameters()])
            for one in layer.parameters():
                one.set_value(one - 0.1 * one.grad)
            layer.clear_gradients()
    for call in range(3):
        found = gradients_of_leaves(trace, call)
        assert sorted(map(str, found)) == sorted(map(str, expected[call]))


def test_a_parameter_that_gets_other_memory():
    p, q = parameter(1, 2), parameter(3, 5)
    with paddle_lab.trace(replay=True) as trace:
        first = p * q
        p.data = paddle.to_tensor([7.0, 11.0])  # the graph keeps the old memory
        (first + p).sum().backward()
        expected = [p.grad.tolist(), q.grad.tolist()]
        _ = p.grad + 1, q.grad + 1
    assert expected == [[4, 6], [1, 2]]
    assert_values_are_those_of_the_run(trace, 5)
    assert sorted(gradients_of_leaves(trace, 0)) == sorted(expected)


def test_an_op_whose_output_is_put_into_another_tensor():
    layer = paddle.nn.Linear(3, 1)
    inner = paddle.optimizer.SGD(parameters=layer.parameters())
    optimizer = paddle.incubate.LookAhead(inner, k=2)
    x = paddle.randn([4, 3])
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(3):
            layer(x).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        vector = paddle.nn.utils.parameters_to_vector(layer.parameters())
        paddle.nn.utils.vector_to_parameters(vector * 0.5, layer.parameters())
        _ = layer(x)
    assert_values_are_those_of_the_run(trace, 80)


def test_ops_that_write_another_argument_than_the_first():
    layer = paddle.nn.Linear(3, 2)
    rprop = paddle.optimizer.Rprop(parameters=layer.parameters())
    average = paddle.incubate.ModelAverage(
        0.5, parameters=layer.parameters(), min_average_window=1, max_average_window=3
    )
    target, x = paddle.zeros([3, 2]), paddle.randn([4, 3])
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(3):
            layer(x).square().mean().backward()
            rprop.step()
            average.step()
            rprop.clear_grad()
            with paddle.no_grad():
                paddle.assign(target * 0.5 + layer.weight, output=target)
                other = target * 2
                paddle.where_(target > 0, target, other)
                _ = other + target
        with average.apply():
            _ = layer(x)
    assert_values_are_those_of_the_run(trace, 60)


@pytest.mark.parametrize("full_graph", [True, False])
def test_statistics_that_a_compiled_program_updates(full_graph):
    norm = paddle.nn.BatchNorm1D(3)
    layer = paddle.jit.to_static(paddle.nn.Sequential(norm), full_graph=full_graph)
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            _ = norm._mean + 1
            layer(paddle.randn([5, 3]))
        _ = norm._mean + 1
    rows = [row for row, op in enumerate(trace.ops) if op.name == "add"]
    values = [trace.value(row).tolist() for row in rows]
    kept = [trace._replay.log.outputs[int(trace._replay.log.row_keys[row])][0] for row in rows]
    assert values == [one.tolist() for one in kept]
    assert values[0] != values[1] != values[2]


def test_gradients_that_are_assigned_and_removed():
    p, q = parameter(1, 2), parameter(3, 5)
    (p * q).sum().backward()
    with paddle_lab.trace(replay=True) as trace:
        _ = p.grad * 2
        p.grad = paddle.to_tensor([7.0, 11.0])
        _ = p.grad * 2
        (p * q).sum().backward()
        _ = p.grad * 2
        with paddle.no_grad():
            p.grad.add_(paddle.ones([2]))
        _ = p.grad * 2
        p.grad = None
        (p * p).sum().backward()
        _ = p.grad * 2, q.grad * 2
    assert_values_are_those_of_the_run(trace, 12)


def test_an_op_in_place_without_a_graph():
    w = parameter(1, 2)
    with paddle_lab.trace(replay=True) as trace:
        y = w * 3
        with paddle.no_grad():
            y.scale_(5.0)  # the graph knows nothing of it
            y[0] = 7.0
        (y * y).sum().backward()
    assert w.grad.tolist() == [42, 180]
    assert_values_are_those_of_the_run(trace, 4)
    assert gradients_of_leaves(trace, 0) == [[42, 180]]


def test_a_pylayer_that_returns_the_input_it_wrote():
    class Tripled(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_context, x):
            return x.scale_(3.0)

        @staticmethod
        def backward(_context, gradient):
            return gradient * 3

    w = parameter(1, 2)
    with paddle_lab.trace(replay=True) as trace:
        Tripled.apply(w * 2).square().sum().backward()
    assert w.grad.tolist() == [72, 144]
    assert gradients_of_leaves(trace, 0) == [[72, 144]]


@pytest.mark.parametrize("hooked", ["before", "in the trace", "twice", "and set"])
def test_hooks_on_a_leaf(hooked):
    w = parameter(1, 2)
    expected = []
    if hooked != "in the trace":
        w.register_hook(lambda gradient: gradient * 3)
    with paddle_lab.trace(replay=True) as trace:
        for _ in range(2):
            y = w * w
            if hooked in ("in the trace", "twice"):
                w.register_hook(lambda gradient: gradient + 1)
            if hooked == "and set":
                w.set_value(w + 1)
            y.sum().backward()
            expected.append(w.grad.tolist())
            with paddle.no_grad():
                w.set_value(w - 0.25 * w.grad)
            w.clear_gradient(False)
    assert_values_are_those_of_the_run(trace, 4)
    for call in range(2):
        assert gradients_of_leaves(trace, call) == [expected[call]]


def test_memory_that_is_used_again_in_a_backward_call():
    used: list[int] = []

    class Noisy(paddle.autograd.PyLayer):
        @staticmethod
        def forward(_context, x):
            return x + 1

        @staticmethod
        def backward(_context, gradient):
            others = [paddle.zeros([1000]) for _ in range(20)]
            used.extend(one.data_ptr() for one in others)
            for one in others:
                one.add_(gradient)
            return paddle.add_n(others)

    was_reused = False
    for _ in range(20):  # which memory is free depends on what ran before
        used.clear()
        w = paddle.create_parameter([1000], "float32")
        with paddle_lab.trace(replay=True) as trace:
            freed = [w * 2 for _ in range(20)]
            addresses = {one.data_ptr() for one in freed}
            del freed
            Noisy.apply(w * 2).sum().backward()
        was_reused |= not addresses.isdisjoint(used)
        assert gradients_of_leaves(trace, 0) == [w.grad.tolist()]
    assert was_reused
