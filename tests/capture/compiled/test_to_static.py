"""``paddle.jit.to_static`` inside and across traces, in both modes."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle_lab
from tests.capture.observation import digest
from tests.models import STATIC_MODELS

MODES = pytest.mark.parametrize("full_graph", [True, False], ids=["full graph", "sot"])


@pytest.mark.parametrize("name", STATIC_MODELS)
def test_a_function_compiled_inside_a_trace_goes_on_after_it(name):
    plain = STATIC_MODELS[name]()
    expected = [digest(plain()) for _ in range(3)]

    with paddle_lab.trace() as trace:
        step = STATIC_MODELS[name]()
        results = [digest(step())]
    results += [digest(step()) for _ in range(2)]

    assert results == expected
    assert len(trace.ops) > 0
    assert trace.graph("backward").number_of_nodes() > 0


@pytest.mark.parametrize("name", STATIC_MODELS)
def test_a_function_compiled_before_a_trace_runs_in_it(name):
    plain = STATIC_MODELS[name]()
    expected = [digest(plain()) for _ in range(2)]

    step = STATIC_MODELS[name]()
    results = [digest(step())]
    with paddle_lab.trace() as trace:
        results.append(digest(step()))

    assert results == expected
    assert "run_program" in [op.name for op in trace.ops]


@MODES
def test_building_a_program_is_no_op(full_graph):
    @paddle.jit.to_static(full_graph=full_graph)
    def double(x):
        return x.exp() * 2

    x = paddle.rand([3])
    with paddle_lab.trace() as trace:
        y = double(x)
        y.tanh()

    assert [op.name for op in trace.ops] == ["run_program", "tanh"]
    program, tanh = trace.ops
    assert [tensor.key for tensor in program.outputs] == [tensor.key for tensor in tanh.inputs]
    assert program.file == __file__


@MODES
def test_an_error_inside_a_static_function_comes_through(full_graph):
    @paddle.jit.to_static(full_graph=full_graph)
    def mismatched(x):
        return x @ x

    with pytest.raises(Exception, match="InvalidArgument"), paddle_lab.trace():
        mismatched(paddle.rand([2, 3]))


def test_a_model_saves_and_loads_inside_a_trace(tmp_path):
    layer = paddle.nn.Linear(3, 2)
    data = paddle.rand([4, 3])
    expected = layer(data).numpy()
    with paddle_lab.trace():
        spec = paddle.static.InputSpec([None, 3], "float32")
        paddle.jit.save(layer, str(tmp_path / "linear"), input_spec=[spec])
        loaded = paddle.jit.load(str(tmp_path / "linear"))
        inside = loaded(data).numpy()

    assert np.allclose(inside, expected)
    assert np.allclose(loaded(data).numpy(), expected)


def test_static_graph_mode_is_left_alone():
    with paddle_lab.trace() as trace:
        paddle.enable_static()
        try:
            program = paddle.static.Program()
            with paddle.static.program_guard(program):
                x = paddle.static.data("x", [2, 2], "float32")
                (x @ x).tanh()
        finally:
            paddle.disable_static()
        paddle.ones([1]).exp()

    assert [op.name for op in trace.ops] == ["full", "exp"]
