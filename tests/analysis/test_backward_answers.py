"""Which calls, groups and ops grad nodes belong to."""

from __future__ import annotations

from itertools import pairwise

from paddle_lab.analysis.answers import with_answers
from paddle_lab.analysis.graph.pairing import grad_nodes_of_ops
from tests.trace.records import RecordWriter


def members(w: RecordWriter) -> dict[int, list[int]]:
    table = with_answers(w.record()).backward_members
    found: dict[int, list[int]] = {}
    for call, node in zip(
        table["backward_call"].tolist(), table["grad_node"].tolist(), strict=True
    ):
        found.setdefault(call, []).append(node)
    return found


def test_a_call_has_what_its_roots_reach():
    w = RecordWriter()
    a, b, c, d = (w.grad_node(name) for name in "abcd")
    w.grad_edge(b, a)
    w.grad_edge(c, b)
    w.grad_edge(c, a, 1)
    w.grad_edge(d, a)
    w.backward(c)
    w.backward(d, b)
    w.backward(d, kind="remaining")
    assert members(w) == {0: [a, b, c], 1: [a, b, d], 2: [a, d]}


def test_graphs_may_go_round_and_edges_may_lead_nowhere():
    w = RecordWriter()
    a, b = w.grad_node("a"), w.grad_node("b")
    w.grad_edge(a, b)
    w.grad_edge(b, a)
    w.row("grad_edges", source=b, target=-1)
    w.backward(a)
    assert members(w) == {0: [a, b]}


def test_a_tape_of_twenty_thousand_nodes_needs_no_recursion():
    w = RecordWriter()
    nodes = [w.grad_node("n") for _ in range(20_000)]
    for left, right in zip(nodes[1:], nodes[:-1], strict=True):
        w.grad_edge(left, right)
    w.backward(nodes[-1])
    assert members(w) == {0: nodes}


def layered():
    """Two layers. Each has a parameter of its own, and both share another one."""
    w = RecordWriter()
    shared = w.parameter("shared")
    x = w.tensor()
    nodes, leaves = [], []
    shared_leaf = None
    with w.layer("net"):
        for i in range(2):
            with w.layer(f"net.{i}"):
                weight = w.parameter(f"net.{i}.weight")
                x = w.op("matmul", x, weight, shared)
                nodes.append(w.grad_node("MatmulGradNode", w.producer(x)))
                leaves.append(w.grad_node("GradNodeAccumulation", parameter=weight))
                w.grad_edge(nodes[-1], leaves[-1])
                if shared_leaf is None:
                    shared_leaf = w.grad_node("GradNodeAccumulation", parameter=shared)
                w.grad_edge(nodes[-1], shared_leaf, 1)
    unknown = w.grad_node("BeforeTheTrace")
    w.grad_edge(nodes[0], unknown, 2)
    return w, nodes, leaves, shared_leaf, unknown


def test_a_grad_node_is_where_its_op_is_and_a_leaf_where_its_consumers_are():
    w, nodes, leaves, shared_leaf, unknown = layered()
    w.grad_node("Alone")
    view = with_answers(w.record())
    group = view.grad_node_groups["group"].tolist()
    net, first, second = range(3)
    assert [group[node] for node in nodes] == [first, second]
    assert [group[leaf] for leaf in leaves] == [first, second]
    assert group[shared_leaf] == net
    assert group[unknown] == first
    assert group[-1] == -1


def test_a_leaf_of_three_consumers_is_above_all_three():
    w = RecordWriter()
    shared = w.parameter("shared")
    leaf = w.grad_node("GradNodeAccumulation", parameter=shared)
    for path in ("a.x", "a.y", "b"):
        with w.layer(path.split(".")[0]), w.layer(path):
            y = w.op("matmul", shared)
        w.grad_edge(w.grad_node("MatmulGradNode", w.producer(y)), leaf)
    assert with_answers(w.record()).grad_node_groups["group"][leaf] == -1


def test_what_only_a_call_of_paddle_grad_made_is_where_the_nodes_beside_it_are():
    w = RecordWriter()
    with w.layer("net"):
        with w.layer("net.0"):
            first = w.producer(w.op("matmul"))
        with w.layer("net.1"):
            second = w.producer(w.op("tanh"))
    call = w.producer(w.op("paddle.grad", phase="backward"))
    outside = w.producer(w.op("mean"))
    mean = w.grad_node("MeanGradNode", outside)
    matmul = w.grad_node("MatmulDoubleGradNode", first)
    between = w.grad_node("AddDoubleGradNode", call)
    tanh = w.grad_node("TanhDoubleGradNode", second)
    last = w.grad_node("AddDoubleGradNode", call)
    across = w.grad_node("MatmulGradNode", call)
    leaf = w.grad_node("GradNodeAccumulation")
    alone = w.grad_node("AddDoubleGradNode", call)
    for chain in ((mean, matmul, between, tanh, last, leaf), (mean, across, tanh)):
        for source, target in pairwise(chain):
            w.grad_edge(source, target)
    group = with_answers(w.record()).grad_node_groups["group"].tolist()
    net, _, inner = range(3)
    assert group[between] == net
    assert group[last] == group[leaf] == inner
    assert group[across] == group[alone] == -1


def test_pairing_lists_every_node_of_an_op():
    w = RecordWriter()
    w.op("linear"), w.op("relu"), w.op("mean")
    for name, op in (("AddGradNode", 0), ("MatmulGradNode", 0), ("leaf", -1), ("MeanGradNode", 2)):
        w.grad_node(name, op)
    starts, nodes = grad_nodes_of_ops(w.record())
    assert [nodes[starts[op] : starts[op + 1]].tolist() for op in range(3)] == [[0, 1], [], [3]]
