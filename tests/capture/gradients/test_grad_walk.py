"""The walk over grad nodes gives the same result in C and in Python, for all kinds of nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import paddle
import pytest

import paddle_lab
from paddle_lab.capture.native import NATIVE

CELL = """
import json, sys
import paddle, paddle_lab
from paddle.autograd import PyLayer
from paddle_lab.trace.schema import RECORD_TABLES

class Doubled(PyLayer):
    @staticmethod
    def forward(ctx, one, other):
        return one * 2, other * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2, second * 3

def leaf(*shape):
    made = paddle.rand(shape)
    made.stop_gradient = False
    return made

paddle.seed(7)
before = (leaf(3) * 2).tanh()
weight, bias = leaf(3, 3), leaf(3)
with paddle_lab.trace() as trace:
    for turn in range(3):
        data = leaf(3)
        many = [data * float(number) for number in range(40)]
        joined = paddle.concat(many[:20]).sum() + paddle.stack(many[20:] + many[:5]).mean()
        parts = paddle.split(paddle.nn.functional.linear(data, weight, bias), 3)
        first, second = Doubled.apply(parts[0], parts[1])
        first.register_hook(lambda gradient: gradient * 3)
        changed = before * first
        changed.add_(parts[2].detach())
        changed[0] = data[1]
        nothing = paddle.empty([0, 3])
        rows = paddle.concat([nothing, (data + paddle.to_tensor([1.0])).reshape([1, 3]), nothing])
        beside = (paddle.to_tensor([]) + leaf(0)).sum() + rows.sum()
        loss = joined + changed.sum() + before.sum() + second.sum() + beside
        (twice,) = paddle.grad(data.tanh().sum() * data.sum(), [data], create_graph=True)
        paddle.autograd.backward([loss, twice.sum(), loss.detach() + loss], retain_graph=turn < 2)
    left = paddle.einsum("i,j->ij", data, data)[:].reshape([-1])[1:]
record = trace.record
told = {"str": record.text}
tables = {
    name: {
        column: list(map(told.get(kind, int), record.tables[name][column].tolist()))
        for column, kind in RECORD_TABLES[name].items()
        if column != "address"
    }
    for name in ("tensors", "uses", "grad_nodes", "grad_edges", "grad_roots", "backward_calls")
}
json.dump([tables, record.origin.notices], sys.stdout)
"""


def traced(*, pure_python: bool) -> Any:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CELL],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PADDLE_LAB_PURE_PYTHON": "1" if pure_python else ""},
    )
    return json.loads(run.stdout[run.stdout.index("[{") :])


@pytest.mark.skipif(NATIVE is None, reason="the native hot path was not built")
def test_both_walks_record_the_same():
    native, python = (traced(pure_python=pure_python) for pure_python in (False, True))
    assert native == python
    tables, notices = native
    assert notices == []
    names = set(tables["grad_nodes"]["name"])
    # Slots that hold several tensors, a class of the user's, in-place ops, leaves, double grad.
    for expected in (
        "ConcatGradNode", "StackGradNode", "GradNodePyLayer_Doubled", "SetValue",
        "GradNodeAccumulation", "TanhDoubleGradNode", "EinsumGradNode",
    ):  # fmt: skip
        assert any(expected in name for name in names), names
    assert len(tables["grad_edges"]["source"]) > 300


def test_an_op_of_many_inputs_is_tied_to_all_of_them():
    leaves = [paddle.rand([3]) for _ in range(50)]
    for leaf in leaves:
        leaf.stop_gradient = False
    with paddle_lab.trace() as trace:
        made = [leaf * 2 for leaf in leaves]
        paddle.concat([*made, *made]).sum().backward()
    nodes, edges = trace.record.grad_nodes, trace.record.grad_edges
    names = [trace.record.text(name) for name in nodes["name"].tolist()]
    concat = names.index("ConcatGradNode")
    from_concat = edges["source"] == concat
    assert edges["slot"][from_concat].tolist() == list(range(100))
    by_target = nodes["op"][edges["target"][from_concat]].tolist()
    assert by_target == [*range(50), *range(50)]
    assert {trace.record.text(shape) for shape in edges["shape"][from_concat].tolist()} == {"[3]"}


def test_a_walk_holds_no_node():
    data = paddle.rand([256, 256])
    data.stop_gradient = False

    def allocated() -> int:
        return int(paddle.base.core.host_memory_stat_current_value("Allocated", 0))

    with paddle_lab.trace():
        paddle.tanh(data).exp().sum().backward()
        before = allocated()
        for _ in range(5):
            paddle.tanh(data).exp().sum().backward()
        assert allocated() == before
