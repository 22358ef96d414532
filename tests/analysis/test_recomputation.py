"""Ops that run again in a backward pass are drawn next to the forward ops that they repeat."""

from __future__ import annotations

from collections import Counter

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.distributed.fleet.utils import recompute

import paddle_lab
from paddle_lab.analysis.answers import with_answers
from paddle_lab.trace.record import Record
from paddle_lab.trace.table import Table


class Once(paddle.autograd.PyLayer):
    """Recomputation as people write it."""

    @staticmethod
    def forward(ctx, function, x):
        ctx.function = function
        ctx.save_for_backward(x)
        with paddle.no_grad():
            return function(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        x = x.detach()
        x.stop_gradient = False
        with paddle.enable_grad():
            y = ctx.function(x)
        paddle.autograd.backward([y], [grad])
        return x.grad


class Blocks(nn.Layer):
    """Three blocks, each run by ``through(block, x)``."""

    def __init__(self, through):
        super().__init__()
        self.blocks = nn.LayerList(
            nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 6)) for _ in range(3)
        )
        self.through = through

    def forward(self, x):
        for block in self.blocks:
            x = x + self.through(block, x)
        return x


def once(block, x):
    return Once.apply(block, x)


def nested(block, x):
    """Recompute a part that recomputes a part."""
    return recompute(lambda y: recompute(block[2], block[1](block[0](y))), x)


def traced(through):
    paddle.seed(1)
    net, x = Blocks(through), paddle.rand([2, 6])
    x.stop_gradient = False
    with paddle_lab.trace() as trace:
        net(x).mean().backward()
    return trace


def beside(trace):
    """Return the grad nodes paired with each op of the forward: layer, op name and node names."""
    record = trace.view_record
    op = record.grad_nodes["op"].tolist()
    inner = record.inner_grad_nodes
    for node, at in zip(inner["grad_node"].tolist(), inner["op"].tolist(), strict=True):
        op[node] = at
    # Of one that ran forward and was differentiated by itself, nothing else is in the forward.
    found: Counter[tuple[str, str, str]] = Counter()
    for node, at in enumerate(op):
        if at >= 0 and not trace.ops[at].is_pylayer:
            name = record.text(int(record.grad_nodes["name"][node]))
            assert trace.ops[at].phase == "forward"
            found[trace.ops[at].layer, trace.ops[at].name, name] += 1
    return found


@pytest.mark.parametrize(
    "through", [recompute, once, nested], ids=["paddle's", "a PyLayer", "in another"]
)
def test_recomputed_grad_nodes_stand_beside_the_ops_that_ran_first(through):
    plain = traced(lambda block, x: block(x))
    trace = traced(through)
    assert beside(trace) == beside(plain)
    calls = trace.backward_calls
    assert [call.inside for call in calls if call.kind == "Tensor.backward"] == [None]
    assert all(call.inside is not None for call in calls[1:])


class Gate(paddle.autograd.PyLayer):
    """Recomputation whose backward repeats ops of the forward on other lines."""

    @staticmethod
    def forward(ctx, function, repeat, a, b):
        ctx.function, ctx.repeat = function, repeat
        ctx.save_for_backward(a, b)
        with paddle.no_grad():
            return paddle.tanh(function(a)) * b + a

    @staticmethod
    def backward(ctx, grad):
        a, b = (tensor.detach() for tensor in ctx.saved_tensor())
        a.stop_gradient = b.stop_gradient = False
        with paddle.enable_grad():
            y = paddle.tanh(ctx.function(a)) * b
            for _ in range(ctx.repeat):
                y = y + a
        y.backward(grad)
        return a.grad, b.grad


@pytest.mark.parametrize("repeat", [1, 2])
def test_ops_that_are_repeated_on_another_line_are_paired_if_all_have_a_partner(repeat):
    a, b = paddle.rand([2, 3]), paddle.rand([2, 3])
    a.stop_gradient = b.stop_gradient = False
    with paddle_lab.trace() as trace:
        Gate.apply(paddle.exp, repeat, a, b).sum().backward()
    record, inner = trace.view_record, trace.view_record.inner_grad_nodes
    found = [
        (trace.ops[at].name, record.text(int(record.grad_nodes["name"][node])))
        for node, at in zip(inner["grad_node"], inner["op"], strict=True)
    ]
    alone = ["multiply", "add"] if repeat == 1 else ["Gate", "Gate", "Gate"]
    names = ["MultiplyGradNode", *["AddGradNode"] * repeat]
    same = [("exp", "ExpGradNode"), ("tanh", "TanhGradNode")]
    assert sorted(found) == sorted([*same, *zip(alone, names, strict=True)])


def test_what_has_no_partner_stands_beside_its_pylayer():
    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensor()
            x = x.detach()
            x.stop_gradient = False
            with paddle.enable_grad():
                y = paddle.tanh(x)
            (made,) = paddle.grad(y, x, grad)
            return made

    x = paddle.rand([3])
    x.stop_gradient = False
    with paddle_lab.trace() as trace:
        Square.apply(x).sum().backward()
    record = trace.view_record
    (at,) = record.inner_grad_nodes["op"].tolist()
    assert trace.ops[at].name == "Square"
    (node,) = record.inner_grad_nodes["grad_node"].tolist()
    assert record.text(int(record.grad_nodes["name"][node])) == "TanhGradNode"
    assert [call.inside for call in trace.backward_calls] == [None, 0]


def test_pylayers_of_a_damaged_file_that_lead_in_a_circle_come_to_an_end():
    record = traced(once).record
    scopes = record.scopes
    # Now the file says that each of three PyLayers runs the next one's op in its backward.
    inside = np.flatnonzero(scopes["op"] >= 0)[-3:]
    ops = scopes["op"][inside]
    scope = record.ops["scope"].copy()
    scope[ops] = inside[[1, 2, 0]]
    tables = {**record.tables, "ops": Table({**record.ops.columns, "scope": scope})}
    damaged = with_answers(Record(tables, record.strings, record.origin))
    assert (damaged.inner_grad_nodes["op"] <= ops.max()).all()


def test_ops_of_a_hook_stand_by_themselves():
    x, weight = paddle.rand([3]), paddle.rand([3])
    x.stop_gradient = weight.stop_gradient = False

    def hook(grad):
        (weight * weight).sum().backward()
        return grad

    with paddle_lab.trace() as trace:
        y = paddle.tanh(x)
        y.register_hook(hook)
        y.sum().backward()
    assert not len(trace.view_record.inner_grad_nodes)
    assert [call.inside for call in trace.backward_calls] == [None, 0]


def test_a_pylayer_that_was_bound_before_the_trace_is_paired_with_nothing_else():
    apply, block = Once.apply, nn.Linear(3, 3)
    x = paddle.rand([2, 3])
    x.stop_gradient = False
    with paddle_lab.trace() as trace:
        (x + apply(block, x)).sum().backward()
    record = trace.record
    names = [record.text(code) for code in record.grad_nodes["name"].tolist()]
    op = dict(zip(names, record.grad_nodes["op"].tolist(), strict=True))
    assert op["GradNodePyLayer_Once"] == -1
    assert op["SumGradNode"] >= 0
