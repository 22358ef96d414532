"""Answers about traces of real Paddle programs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import paddle_lab
from paddle_lab.views.svg.folding import fold
from tests.analysis.drawn_tree import tree

paddle = pytest.importorskip("paddle")
nn, functional = paddle.nn, paddle.nn.functional


def encoder_trace():
    layer = nn.TransformerEncoderLayer(32, 4, 64)
    net = nn.TransformerEncoder(layer, 6)
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    x = paddle.randn([2, 8, 32])
    with paddle_lab.trace(title="encoder") as trace:
        for _ in range(2):
            net(x).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
    return net, trace


def test_blocks_of_a_real_network_are_alike_and_drawn_once():
    _, trace = encoder_trace()
    view = trace.view_record
    blocks = [
        group
        for group in range(len(view.groups))
        if view.text(int(view.groups["class"][group])) == "TransformerEncoderLayer"
    ]
    assert len(blocks) == 12
    assert len({int(view.groups["structure"][group]) for group in blocks}) == 1
    assert max(len(frame.item.groups) for frame in fold(view).frames) == 6


def test_every_turn_of_a_training_loop_is_a_group():
    _, trace = encoder_trace()
    assert [part[0] for part in tree(trace.record)] == [
        "for _ in range(2) · 1",
        "for _ in range(2) · 2",
    ]


def test_every_parameter_is_a_leaf_of_each_call():
    net, trace = encoder_trace()
    names = sorted(parameter.name for parameter in net.parameters())
    assert [call.kind for call in trace.backward_calls] == ["Tensor.backward"] * 2
    for call in range(2):
        graph = trace.graph("backward", call=call)
        leaves = [name for _, name in graph.nodes(data="parameter") if name]
        assert sorted(leaves) == names
        assert nx.is_directed_acyclic_graph(graph)


def test_data_flows_from_the_input_to_the_loss_and_gradients_back():
    _, trace = encoder_trace()
    forward = trace.graph("forward")
    assert nx.is_directed_acyclic_graph(forward)
    (first, *_), (loss, *_) = (
        [op.key for op in trace.ops if op.name == name and op.phase == "forward"]
        for name in ("linear", "mean")
    )
    assert nx.has_path(forward, first, loss)
    backward = trace.graph("backward")
    paired = {op: node for node, op in backward.nodes(data="op") if op is not None}
    assert paired[loss] not in nx.descendants(backward, paired[loss])
    assert trace.ops[loss].grad_nodes == [paired[loss]]


def test_a_function_style_network_is_grouped_by_the_turns_of_its_loop():
    weights = [paddle.randn([8, 8]) for _ in range(6)]

    def block(x, weight):
        h = paddle.matmul(x, weight)
        return functional.relu(h) + x

    x = paddle.randn([2, 8])
    with paddle_lab.trace() as trace:
        for weight in weights:
            x = block(x, weight)
    parts = tree(trace.record)
    assert [part[0] for part in parts] == [f"weight {turn}" for turn in range(1, 7)]
    assert [len(part) for part in parts] == [4] * 6
    assert len(set(trace.view_record.groups["structure"].tolist())) == 1


def test_a_detached_value_is_an_edge_without_a_gradient():
    x = paddle.randn([4])
    x.stop_gradient = False
    with paddle_lab.trace() as trace:
        y = paddle.tanh(x)
        z = paddle.exp(y.detach()) + y
        z.sum().backward()
    kinds = {
        (trace.ops[source].name, trace.ops[target].name): kind
        for source, target, kind in trace.graph("forward").edges(data="kind")
    }
    assert kinds["tanh", "exp"] == "detach"
    assert kinds["tanh", "add"] == "data"


def test_a_real_trace_survives_its_file(tmp_path):
    _, trace = encoder_trace()
    back = paddle_lab.load(trace.save(tmp_path / "one.pltrace"))
    for name, table in trace.record.tables.items():
        for column, values in table.columns.items():
            np.testing.assert_array_equal(back.record.tables[name][column], values)
    assert back.payload() == trace.payload()
    assert len(back.ops) == len(trace.ops)


def test_region_roles_of_a_real_trace():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    x = paddle.randn([2, 4])
    with paddle_lab.trace() as trace:
        h = net[0](x)
        with paddle_lab.region("middle"):
            h = net[1](h)
        net[2](h).sum().backward()
    graph = trace.graph("backward", region="middle")
    roles = {
        name: role
        for (_, name), (_, role) in zip(
            graph.nodes(data="name"), graph.nodes(data="region_role"), strict=True
        )
        if role
    }
    assert roles.pop("ReluGradNode") == "inside"
    assert set(roles.values()) == {"neighbour"}
    assert [(region.name, region.op_count) for region in trace.regions] == [("middle", 1)]
