"""The graphs as networkx graphs."""

from __future__ import annotations

import networkx as nx
import pytest

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter


def trained() -> Trace:
    """``linear`` and ``relu`` in a region, ``scale`` before, ``mean`` after it, two backwards."""
    w = RecordWriter()
    x = w.op("scale", w.tensor("x"), line=2)
    weight = w.parameter("net.fc.weight")
    with w.scope("region", "head"), w.layer("net.fc", "Linear"):
        y = w.op("linear", x, weight, line=3)
        with w.scope("region", "inner"):
            y = w.op("relu", y, line=4)
    detached = w.tensor(detached_from=y.key)
    z = w.op("mean", y, line=5, attributes="None, False")
    w.op("print", detached, line=6)
    scale, linear, leaf, relu, mean = (
        w.grad_node("ScaleGradNode", 0),
        w.grad_node("MatmulGradNode", 1),
        w.grad_node("GradNodeAccumulation", parameter=weight),
        w.grad_node("ReluGradNode", 2),
        w.grad_node("MeanGradNode", w.producer(z)),
    )
    w.grad_edge(mean, relu)
    w.grad_edge(relu, linear)
    w.grad_edge(linear, scale)
    w.grad_edge(linear, leaf, 1)
    w.backward(mean)
    w.backward(relu)
    return Trace(w.record())


def test_forward_nodes_and_edges_carry_what_the_issue_of_a_tool_needs():
    graph = trained().graph("forward")
    assert isinstance(graph, nx.MultiDiGraph)
    assert list(graph.nodes) == [0, 1, 2, 3, 4]
    node = graph.nodes[1]
    assert node["name"] == "linear"
    assert (node["layer"], node["phase"], node["region"]) == ("net.fc", "forward", "head")
    assert (node["file"], node["line"], node["function"], node["cell"]) == (
        "cell",
        3,
        "<module>",
        4,
    )
    assert [tensor["path"] for tensor in node["inputs"]] == ["", "net.fc.weight"]
    assert node["outputs"][0]["shape"] == (2, 3)
    assert graph.nodes[2]["region"] == "inner"
    assert graph.nodes[3]["attributes"] == "None, False"
    assert {(s, t, e["kind"]) for s, t, e in graph.edges(data=True)} == {
        (0, 1, "data"),
        (1, 2, "data"),
        (2, 3, "data"),
        (2, 4, "detach"),
    }
    assert graph.edges[2, 3, 0]["shape"] == (2, 3)
    assert graph.edges[2, 3, 0]["dtype"] == "float32"


def test_backward_nodes_name_their_op_or_their_parameter():
    graph = trained().graph("backward")
    assert [graph.nodes[node]["op"] for node in graph] == [0, 1, None, 2, 3]
    leaf = graph.nodes[2]
    assert (leaf["parameter"], leaf["layer"], leaf["file"], leaf["line"]) == (
        "param_net.fc.weight",
        "net.fc",
        "",
        0,
    )
    linear = graph.nodes[1]
    assert (linear["name"], linear["layer"], linear["line"]) == ("MatmulGradNode", "net.fc", 3)
    assert (linear["parameter"], linear["region"]) == (None, "head")
    assert linear["address"] > 0
    assert [tuple(edge) for edge in graph.edges()] == [(1, 0), (1, 2), (3, 1), (4, 3)]
    assert graph.edges[1, 2, 0] == {"shape": (2, 3), "dtype": "float32", "slot": 1}


def test_a_leaf_that_is_no_parameter_names_none():
    w = RecordWriter()
    w.backward(w.grad_node("GradNodeAccumulation", parameter=w.tensor()))
    leaf = Trace(w.record()).graph("backward").nodes[0]
    assert (leaf["op"], leaf["parameter"]) == (None, None)


def test_one_calls_graph():
    trace = trained()
    assert list(trace.graph("backward", call=1)) == [0, 1, 2, 3]
    assert len(trace.graph("backward", call=0)) == 5


def test_region_roles():
    trace = trained()
    roles = nx.get_node_attributes(trace.graph("backward", region="head"), "region_role")
    assert roles == {0: "neighbour", 1: "inside", 2: "leaf", 3: "inside", 4: "neighbour"}
    roles = nx.get_node_attributes(trace.graph("backward", region="inner"), "region_role")
    assert roles == {0: None, 1: "neighbour", 2: None, 3: "inside", 4: "neighbour"}
    assert "region_role" not in trace.graph("backward").nodes[0]


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("sideways",), {}, r'no .sideways. graph; ask for "forward" or "backward"'),
        (("backward",), {"call": 2}, "no backward call 2; this trace has 2, counted from 0"),
        (("backward",), {"call": -1}, "no backward call -1"),
        (("backward",), {"region": "tail"}, "no region 'tail'; there are: head, inner"),
        (("forward",), {"call": 0}, r'options of graph\("backward"\)'),
    ],
)
def test_what_is_not_there_is_named(arguments, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        trained().graph(*arguments, **options)


def test_parallel_edges_are_kept():
    w = RecordWriter()
    x = w.op("full")
    w.op("multiply", x, x)
    assert Trace(w.record()).graph().number_of_edges(0, 1) == 2
