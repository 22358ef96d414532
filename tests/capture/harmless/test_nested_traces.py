"""Traces that are nested, that run side by side, and that overlap."""

from __future__ import annotations

from contextlib import ExitStack

import paddle
import pytest

import paddle_lab


def names(trace: paddle_lab.Trace) -> list[str]:
    return [op.name for op in trace.ops]


def test_an_inner_trace_sees_its_part_and_the_outer_one_all():
    x = paddle.rand([2, 2])
    x.stop_gradient = False
    with paddle_lab.trace() as outer:
        x.tanh()
        with paddle_lab.trace() as inner:
            x.exp().sum().backward()
        x.sin()

    assert names(inner) == ["exp", "sum"]
    assert names(outer) == ["tanh", "exp", "sum", "sin"]
    for trace in (inner, outer):
        graph = trace.graph("backward", call=0)
        assert sorted(name for _, name in graph.nodes(data="name")) == [
            "ExpGradNode",
            "GradNodeAccumulation",
            "SumGradNode",
        ]


def test_an_inner_trace_that_raises_leaves_the_outer_one_whole():
    x = paddle.rand([2, 2])
    with paddle_lab.trace() as outer:
        with pytest.raises(ZeroDivisionError), paddle_lab.trace():  # noqa: PT012 (the error leaves the trace)
            x.tanh()
            raise ZeroDivisionError
        x.sin()

    assert names(outer) == ["tanh", "sin"]


def test_traces_that_overlap_see_each_its_own_time():
    x = paddle.rand([2, 2])
    with ExitStack() as first_stack, ExitStack() as second_stack:
        first = first_stack.enter_context(paddle_lab.trace())
        x.tanh()
        second = second_stack.enter_context(paddle_lab.trace())
        x.exp()
        first_stack.close()
        x.sin()

    assert names(first) == ["tanh", "exp"]
    assert names(second) == ["exp", "sin"]


def test_a_trace_inside_a_layer_called_under_a_trace():
    class Inspected(paddle.nn.Layer):
        def forward(self, x):
            with paddle_lab.trace() as self.trace:
                return x.tanh()

    layer = Inspected()
    with paddle_lab.trace() as outer:
        layer(paddle.rand([2])).sum()

    assert names(layer.trace) == ["tanh"]
    assert names(outer) == ["uniform", "tanh", "sum"]
    assert outer.ops[1].layer_class == "Inspected"
