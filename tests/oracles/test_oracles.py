"""The oracles themselves, tested on small code whose ops are known."""

from __future__ import annotations

import paddle
import pytest
from paddle.autograd import PyLayer

from tests.oracles import (
    Call,
    Disagreement,
    api_log,
    explain,
    paddle_api_log,
    read_backward_dump,
    stack_dump,
    walk_backward,
)


def leaf(*shape: int) -> paddle.Tensor:
    tensor = paddle.rand(list(shape))
    tensor.stop_gradient = False
    return tensor


def names(ops):
    return [op.name for op in ops]


def test_log_names_what_python_asked_for():
    x = leaf(3, 3)

    def small():
        return (x @ x + 1).sum()

    log = paddle_api_log(small)

    assert names(log.python_ops) == ["matmul", "scale", "sum"]
    assert log.hidden_ops == []


def test_log_tells_promotion_casts_from_casts_that_were_asked_for():
    x = leaf(3)

    log = paddle_api_log(lambda: (x + x.cast("float64")) * x)

    assert names(log.python_ops) == ["cast", "add", "multiply"]
    assert sorted(names(log.hidden_ops)) == ["add", "cast", "cast", "multiply"]
    assert log.unfinished == []


def test_log_tells_ops_of_the_backward_pass_from_hooks_in_it():
    x = leaf(3)

    def double_grad():
        y = x * x * x
        y.register_hook(lambda gradient: gradient.exp())
        (first,) = paddle.grad(y.sum(), x, create_graph=True)
        first.sum().backward()

    log = paddle_api_log(double_grad)

    assert names(log.python_ops) == ["multiply", "multiply", "sum", "exp", "sum"]
    assert set(names(log.hidden_ops)) <= {"add", "multiply", "scale"}
    assert log.hidden_ops


def test_log_reads_inside_a_pylayer_and_its_backward():
    class Cube(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.pow(3)

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensor()
            return dy * x.square() * 3

    x = leaf(3)

    log = paddle_api_log(lambda: Cube.apply(x).sum().backward())

    assert names(log.python_ops) == ["pow", "sum", "square", "multiply", "scale"]
    assert [name for _, name in log.executed_grad_nodes] == [
        "SumGradNode",
        "GradNodePyLayer_Cube",
        "GradNodeAccumulation",
    ]


def test_log_survives_an_exception():
    with pytest.raises(ValueError, match="InvalidArgument"), api_log() as log:
        leaf(2, 3) @ leaf(2, 3)

    assert names(log.python_ops) == ["uniform", "uniform", "matmul"]
    assert log.unfinished == ["matmul"]


def test_log_sees_legacy_ops():
    x = leaf(3)

    log = paddle_api_log(lambda: paddle._legacy_C_ops.relu(x).sum())

    assert names(log.python_ops) == ["relu", "sum"]


def test_walk_equals_paddles_own_dump(tmp_path):
    x = leaf(4, 4)
    layer = paddle.nn.Linear(4, 4)
    y = layer(x)
    loss = (y * y).sum() + y.mean()
    walk = walk_backward([loss])

    loss.backward(dump_backward_graph_path=str(tmp_path) + "/")

    (dump,) = read_backward_dump(tmp_path)
    assert walk.nodes == dump.nodes
    assert sorted(walk.edges) == sorted(dump.edges)
    assert len(walk.edges) > len(set(walk.edges))  # y * y: joined twice


def test_stacks_and_grad_nodes_name_their_op(tmp_path):
    x = leaf(3, 3)
    with api_log() as log, stack_dump(tmp_path) as dump:
        loss = (x @ x).tanh().sum()
        walk = walk_backward([loss])
        loss.backward()

    assert names(log.python_ops) == ["matmul", "tanh", "sum"]
    for op in log.python_ops:
        innermost_own = [
            frame for frame in dump.op_stacks[op.unique_name] if frame.file == __file__
        ]
        assert innermost_own[-1].function == "test_stacks_and_grad_nodes_name_their_op"
    made = {f"{op.unique_name}GradNode" for op in log.python_ops} | {"GradNodeAccumulation"}
    assert {dump.grad_nodes[address] for address in walk.nodes} == made


CALLS = [Call("linear", 3), Call("getitem", 1), Call("getitem", 1), Call("multiply", 1)]
LOGGED = ["matmul", "add", "slice", "full", "multiply"]


def test_explanation_matches_calls_with_their_logged_ops():
    assert list(map(list, explain(CALLS, LOGGED))) == [[0, 1], [2], [], [3, 4]]


def test_explanation_follows_further_evidence():
    explained = explain(CALLS, LOGGED, may_be=lambda call, logged: (call, logged) != (1, 2))

    assert list(map(list, explained)) == [[0, 1], [], [2], [3, 4]]


@pytest.mark.parametrize(
    "logged", [["matmul", "relu"], ["matmul", "add"], ["matmul", "add", "relu", "relu"], []]
)
def test_explanation_refuses_what_does_not_match(logged):
    with pytest.raises(Disagreement):
        explain([Call("linear", 3), Call("relu", 1)], logged)
