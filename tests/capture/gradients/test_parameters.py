"""Parameters and buffers are distinguished from activations, whenever they were made."""

from __future__ import annotations

import paddle

import paddle_lab


def test_the_parameters_of_a_model_built_inside_the_trace_are_parameters():
    with paddle_lab.trace() as trace:
        net = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.LayerNorm(4))
        optimizer = paddle.optimizer.SGD(parameters=net.parameters())
        net(paddle.ones([2, 4])).sum().backward()
        optimizer.step()
    nodes = [cells for _, cells in trace.graph("backward").nodes(data=True)]
    named = {parameter.name for parameter in net.parameters()}
    assert {node["parameter"] for node in nodes if node["parameter"]} == named
    paths = {path for path, _ in net.named_parameters()}
    seen = [tensor for op in trace.ops for tensor in op.inputs if tensor.kind == "parameter"]
    assert {tensor.path for tensor in seen} == paths
    steps = [op for op in trace.ops if op.name == "sgd_"]
    # sgd_(parameter, learning rate, gradient, …)
    assert [op.inputs[0].kind for op in steps] == ["parameter"] * len(paths)
