"""A graph as a file for Netron: a program that can be read like Paddle's own."""

from __future__ import annotations

import json

import paddle_lab
from tests.trace.records import RecordWriter


def test_it_is_the_same_graph_with_lines(tmp_path):
    writer = RecordWriter()
    x, weight = writer.tensor("x", (-1, 3)), writer.parameter("net.weight")
    hidden = writer.op("matmul", x, weight, line=3)
    with writer.layer("net.act", "ReLU"):
        activated = writer.op("relu", hidden, line=4, attributes="axis=[0, 1], mode=same")
    writer.op("add", hidden, activated, line=5)
    trace = paddle_lab.Trace(writer.record())
    read = paddle_lab.program(trace.to_netron(tmp_path / "model.json"))
    assert [op.name for op in read.ops] == ["matmul", "relu", "add"]
    assert sorted(read.graph().edges()) == sorted(trace.graph().edges())
    kinds = {tensor.name: tensor.kind for tensor in read.tensors if tensor.name}
    assert kinds == {"x": "external", "net.weight": "parameter"}
    assert [op.where for op in read.ops] == [f"Cell 4, line {line}" for line in (3, 4, 5)]
    assert [op.layer for op in read.ops] == ["", "net.act", ""]
    assert [op.attributes for op in read.ops] == ["", "axis=[0, 1], mode=same", ""]
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["base_code"]["magic"] == "pir"
