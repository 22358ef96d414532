"""Which edges of a backward graph must have a recorded gradient: all without a known exception."""

from __future__ import annotations

import re

import numpy as np
import paddle
import pytest

import paddle_lab
from paddle_lab.analysis.findings.checks.gradient_scale import CHECK
from paddle_lab.analysis.findings.facts import Facts
from paddle_lab.capture.evidence.gradients.list_slots import takes_post_hook
from paddle_lab.trace.record import Record
from tests.capture.gradients.gradient_rows import node_names, rows_by_edge
from tests.capture.observation import digest
from tests.models import MODELS, STATIC_MODELS, Build

WRITE_OVER = {
    f"{op}GradNode"
    for op in ("Clip", "Exp", "LeakyRelu", "Log", "Pow", "Relu", "Sigmoid", "Silu", "Sin",
               "Softplus", "Sqrt", "Square", "Tanh")
}  # fmt: skip


def unexplained(record: Record) -> list[str]:
    """Return the edges that have no row although they should.

    A node that takes no post hook (a list of tensors, a PyLayer, a program) is excused where its
    gradient meets others, or arrives at a tensor that is dead or at a node that writes over it; and
    so is an empty gradient.
    """
    names, edges = node_names(record), record.tables["grad_edges"]
    arrivals = np.bincount(edges["target"], minlength=len(names))
    known = rows_by_edge(record)
    found = []
    for edge in range(len(edges)):
        source, target = int(edges["source"][edge]), int(edges["target"][edge])
        is_left_alone = not takes_post_hook(names[source], [])
        hides = (
            arrivals[target] > 1
            or not takes_post_hook(names[target], [])
            or names[target] in WRITE_OVER
        )
        is_empty = re.search(r"\b0\b", record.text(int(edges["shape"][edge]))) is not None
        if edge not in known and not is_empty and not (is_left_alone and hides):
            found.append(f"{names[source]} → {names[target]}")
    return found


def two_steps(build: Build) -> list[dict[str, str]]:
    step = build()
    return [digest(step()) for _ in range(2)]


@pytest.mark.parametrize("name", [*MODELS, *STATIC_MODELS])
def test_models_compute_the_same_and_every_edge_is_told(name):
    build = {**MODELS, **STATIC_MODELS}[name]
    plain = two_steps(build)

    with paddle_lab.trace(grads=True) as trace:
        traced = two_steps(build)

    assert traced == plain
    assert trace.record.origin.notices == []
    assert [one for one in CHECK.find(Facts(trace.view_record)) if one.severity != "info"] == []
    # Gradients in sparse coordinates are skipped.
    assert unexplained(trace.record) == [] or name == "sparse_values"


def test_a_graph_that_is_run_twice_has_rows_for_both():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as trace:
        loss = data.tanh().sum()
        loss.backward(retain_graph=True)
        loss.backward()
    table = trace.record.tables["grad_stats"]
    assert table["backward_call"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["grad_edge"].tolist() == [-1, 0, 1, -1, 0, 1]


def test_a_graph_from_before_the_trace_is_told():
    one, other = paddle.randn([3]), paddle.randn([3])
    one.stop_gradient = other.stop_gradient = False
    loss = paddle.concat([one.cumsum(), other]).sum()
    with paddle_lab.trace(grads=True) as trace:
        loss.backward()
    record = trace.record
    names, edges = node_names(record), record.tables["grad_edges"]
    told = {
        (names[edges["source"][edge]], names[edges["target"][edge]])
        for edge in rows_by_edge(record)
        if edge >= 0
    }
    # ``other`` is a leaf that the trace has never seen.
    assert told == {
        ("SumGradNode", "ConcatGradNode"),
        ("ConcatGradNode", "CumsumGradNode"),
        ("CumsumGradNode", "GradNodeAccumulation"),
    }


def test_two_open_traces_both_tell():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace(grads=True) as outer, paddle_lab.trace(grads=True) as inner:
        data.tanh().sum().backward()
    for trace in (outer, inner):
        assert len(trace.record.tables["grad_stats"]) == 3


def test_without_grads_nothing_is_recorded():
    data = paddle.randn([3])
    data.stop_gradient = False
    with paddle_lab.trace() as trace:
        data.tanh().sum().backward()
    assert len(trace.record.tables["grad_stats"]) == 0
