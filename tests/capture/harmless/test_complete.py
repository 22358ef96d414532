"""Traces of real models, compared op by op and grad node by grad node with Paddle's own tools."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from paddle_lab.analysis.tables.ops import Op
from tests.capture.observation import Observation, observe
from tests.models import MODELS
from tests.oracles import explain

ROOT = Path(__file__).parents[3]
LEAF = "GradNodeAccumulation"
DOUBLE_GRAD = re.compile(r"\w+_grad\d+GradNode|\w+DoubleGradNode")


@pytest.fixture(scope="module", params=MODELS)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Observation:
    return observe(MODELS[request.param], tmp_path_factory.mktemp(request.param))


def test_every_op_that_paddle_logs_is_in_the_trace_in_order_and_no_other(seen):
    explain(seen.calls(), [op.name for op in seen.log.python_ops])
    assert seen.log.unfinished == []


def test_every_op_has_paddles_own_stack(seen):
    for op, logged in zip(seen.trace.ops, seen.logged_ops(), strict=True):
        stack = [(frame.file, frame.line, _short(frame.function)) for frame in op.stack]
        for dumped in filter(None, map(seen.dumped_stack, logged)):
            innermost = dumped[: len(stack)]
            assert stack == [tuple(frame) for frame in innermost], op


def test_every_stack_reaches_the_users_file(seen):
    astray = [op for op in seen.trace.ops if ROOT / "tests" not in Path(op.file).parents]
    assert astray == []


def test_every_op_has_outputs_of_the_shapes_that_paddle_logs(seen):
    for op, logged in zip(seen.trace.ops, seen.logged_ops(), strict=True):
        if logged and logged[-1].output_shapes:
            shapes = [list(output.shape) for output in op.outputs]
            if len(shapes) != len(logged[-1].output_shapes):  # some are not handed to Python
                assert shapes[:1] == logged[-1].output_shapes[:1], op
            else:
                assert shapes == logged[-1].output_shapes, op


def test_every_grad_node_but_leaves_belongs_to_an_op(seen):
    for _, node in seen.trace.graph("backward").nodes(data=True):
        assert (node["op"] is None) == (node["name"] == LEAF), node
        assert node["name"] == LEAF or node["parameter"] is None, node


def test_every_backward_pass_has_a_graph_with_exactly_its_grad_nodes_and_edges(seen):
    assert len(seen.trace.backward_calls) >= len(seen.walks)
    for call, walk in enumerate(seen.walks):
        graph = seen.trace.graph("backward", call=call)
        assert len(graph) == len(walk.nodes)
        address = graph.nodes(data="address")
        assert {address[node]: name for node, name in graph.nodes(data="name")} == walk.nodes
        edges = Counter((address[source], address[target]) for source, target in graph.edges())
        assert edges == Counter(walk.edges)


def test_every_grad_node_is_paired_with_the_op_that_made_it(seen):
    makers = _makers(seen)
    hidden = {op.unique_name for op in seen.log.hidden_ops} - makers.keys()
    for _, node in seen.trace.graph("backward").nodes(data=True):
        name = node["name"]
        if name.removesuffix("GradNode") not in makers:
            # Where a graph dies within the step (recompute), two nodes may have had one address:
            # the dump knows one of them.
            name = seen.dump.grad_nodes.get(node["address"], name)
        if name == LEAF:
            assert node["op"] is None, node
        elif name.removesuffix("GradNode") in makers:
            assert node["op"] == makers[name.removesuffix("GradNode")].key, (node, name)
        elif not (name.removesuffix("GradNode") in hidden or DOUBLE_GRAD.fullmatch(name)):
            # Paddle has no unique names for PyLayers and legacy ops.
            op = seen.trace.ops[node["op"]]
            assert name in {f"GradNodePyLayer_{op.name}", f"{op.name}GradNodeCompat"}, node


def test_phases_are_told_apart(seen):
    executed = bool(seen.log.executed_grad_nodes)
    optimizer_ops = {"sgd_", "adam_", "adamw_", "momentum_", "rmsprop_"}
    phases = {op.phase for op in seen.trace.ops}
    assert "forward" in phases
    for op in seen.trace.ops:
        if op.name in optimizer_ops:
            assert op.phase == "optimizer", op
        if _is_called_by_backward(op):
            assert op.phase == "backward", op
        elif op.phase == "backward":
            assert executed, op


def test_the_trace_leaves_every_binding_as_it_was(seen):
    assert seen.changed_bindings == []


def _makers(seen: Observation) -> dict[str, Op]:
    """Return the trace's op for each unique name that Paddle gave to an op."""
    makers = {
        logged: op
        for op, logged_ops in zip(seen.trace.ops, seen.logged_ops(), strict=True)
        for logged in logged_ops
    }
    for logged in seen.log.hidden_ops:  # in the order in which they started: callers first
        if logged.asked_by in makers:
            makers[logged] = makers[logged.asked_by]
    return {logged.unique_name: op for logged, op in makers.items() if logged.unique_name}


def _is_called_by_backward(op: Op) -> bool:
    functions = [(frame.function, Path(frame.file).name) for frame in op.stack]
    return ("backward", "tensor_patch_methods.py") in functions


def _short(qualified_name: str) -> str:
    return qualified_name.rpartition(".")[2]
