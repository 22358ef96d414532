"""Compiled programs, compared with Paddle's own count of their ops."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.jit.dy2static.pir_partial_program import PartialProgramLayer

import paddle_lab


@pytest.fixture(autouse=True)
def own_scope():
    """Leave nothing in the global scope."""
    with paddle.static.scope_guard(paddle.static.Scope()):
        yield


class Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)
        self.batch_norm = nn.BatchNorm1D(8)

    def forward(self, x):
        for _ in range(2):
            x = x + self.down(nn.functional.gelu(self.up(self.norm(x))))
        if x.sum() > 0:  # SOT cuts here
            x = x * 2
        for _ in range(2):
            x = self.batch_norm(x + self.down(nn.functional.gelu(self.up(self.norm(x)))))
        return x


def rows(trace):
    table, text = trace.record.programs, trace.record.text
    texts = ("feeds", "fetches", "place")
    return [
        {
            name: text(int(column[row])) if name in texts else int(column[row])
            for name, column in table.columns.items()
        }
        for row in range(len(table))
    ]


def op_count(program) -> int:
    return len(program.global_block().ops)


def read_by(op) -> set[str]:
    return {tensor.name for tensor in op.inputs if tensor.kind in ("parameter", "buffer")}


def test_a_function_that_was_compiled_whole_is_one_program():
    net = paddle.jit.to_static(Block(), full_graph=True)
    x = paddle.randn([4, 8])
    with paddle_lab.trace() as trace:
        for _ in range(3):
            net(x).mean().backward()
    program = net.forward.program_cache.last()[1][1].train_program
    told = rows(trace)
    assert {row["program"] for row in told} == {0}
    assert len(told) == 3
    assert told[0]["all_ops"] == op_count(program.forward_program)
    assert told[0]["all_backward_ops"] == op_count(program.backward_program)
    assert 0 < told[0]["ops"] < told[0]["all_ops"]
    state = {tensor.name for tensor in net.state_dict().values()}
    assert read_by(trace.ops[told[0]["op"]]) == state
    assert told[0]["parameters"] == len(state)
    assert "Compiled programs" in trace.summary()


def test_in_evaluation_a_program_has_no_backward():
    net = paddle.jit.to_static(Block(), full_graph=True)
    net.eval()
    with paddle_lab.trace() as trace, paddle.no_grad():
        net(paddle.randn([4, 8]))
    (row,) = rows(trace)
    program = net.forward.program_cache.last()[1][1].infer_program
    assert row["all_ops"] == op_count(program.forward_program)
    assert row["all_backward_ops"] == 0


def test_sot_makes_pieces(monkeypatch):
    ran: list[PartialProgramLayer] = []
    sot_call = PartialProgramLayer.sot_call

    def noting(self, inputs):
        ran.append(self)
        return sot_call(self, inputs)

    noting.__code__ = noting.__code__.replace(co_filename=sot_call.__code__.co_filename)
    monkeypatch.setattr(PartialProgramLayer, "sot_call", noting)
    net = paddle.jit.to_static(Block(), full_graph=False)
    x = paddle.randn([4, 8])
    with paddle_lab.trace() as trace:
        net(x).mean().backward()
    told = rows(trace)
    assert len(told) == len(ran) > 1
    assert [row["kind"] for row in told] == [1] * len(ran)
    for row, layer in zip(told, ran, strict=True):
        assert row["all_ops"] == op_count(layer.program.forward_program)
        assert row["all_backward_ops"] == op_count(layer.program.backward_program)


def test_what_sot_does_not_compile_is_said_to_run_op_by_op():
    small = paddle.jit.to_static(lambda x: x * 2, full_graph=False)
    with paddle_lab.trace() as trace:
        small(paddle.ones([2]))
    (row,) = rows(trace)
    assert row["program"] == -1


@pytest.fixture
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.usefixtures("static_mode")
def test_an_executor_runs_the_program_that_it_is_given():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 8])
        loss = paddle.static.nn.fc(x, 4).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor()
    data = np.ones((2, 8), "float32")
    with paddle_lab.trace() as trace:
        executor.run(startup)
        for _ in range(3):
            executor.run(main, feed={"x": data}, fetch_list=[loss])
    first, *steps = rows(trace)
    assert first["all_ops"] == op_count(startup)
    assert len(steps) == 3
    assert {row["program"] for row in steps} == {steps[0]["program"]} != {first["program"]}
    assert steps[0]["all_ops"] == op_count(main)
    assert steps[0]["feeds"] == "x [2, 8]"
    assert steps[0]["fetches"] == "mean"
    assert steps[0]["place"] == "cpu"
    assert [op.name for op in trace.ops] == ["run_program"] * 4


@pytest.mark.usefixtures("static_mode")
def test_an_error_of_an_executor_comes_through():
    executor = paddle.static.Executor()
    with pytest.raises(TypeError), paddle_lab.trace() as trace:
        executor.run(paddle.static.Program(), feed=3)
    assert trace.ops[0].raised


@pytest.mark.parametrize("missing", ["call_run_impl_with_hook", "program"])
def test_without_paddles_private_names_nothing_is_told_and_the_call_runs(missing, monkeypatch):
    net = paddle.jit.to_static(Block(), full_graph=True)
    net.eval()
    x = paddle.randn([4, 8])
    expected = net(x).numpy()
    hidden = getattr(PartialProgramLayer, missing)
    # What Paddle's own code finds under these names, under other names.
    if missing == "program":
        run = PartialProgramLayer._prepare_attributes
        prepared = net.forward.program_cache.last()[1][1]
        attributes = run(prepared)
        monkeypatch.setattr(PartialProgramLayer, "_prepare_attributes", lambda *_, **__: attributes)
    else:
        monkeypatch.setattr(PartialProgramLayer, "run_renamed", hidden, raising=False)
        call = PartialProgramLayer.__call__
        code = call.__code__
        names = tuple("run_renamed" if name == missing else name for name in code.co_names)
        renamed = FunctionType(code.replace(co_names=names), call.__globals__)
        monkeypatch.setattr(PartialProgramLayer, "__call__", renamed)
    monkeypatch.delattr(PartialProgramLayer, missing)
    with paddle_lab.trace() as trace:
        result = net(x)
    assert (result.numpy() == expected).all()
    assert [op.name for op in trace.ops] == ["run_program"]
    assert rows(trace) == []
    notices = trace.record.origin.notices
    assert ["which static programs ran" in notice for notice in notices] == (
        [] if missing == "program" else [True]
    )


def test_ops_of_a_program_that_is_only_built_are_not_recorded(tmp_path):
    # ``rnn`` takes eager weights and values of the program, and returns a tuple.
    net, spec = nn.LSTM(8, 16), [paddle.static.InputSpec([None, 5, 8], "float32")]
    with paddle_lab.trace() as trace:
        paddle.jit.save(net, str(tmp_path / "model"), input_spec=spec)
    assert "rnn" not in {op.name for op in trace.ops}
    assert trace.record.origin.notices == []


@pytest.mark.usefixtures("static_mode")
def test_a_call_with_a_value_of_a_program_that_fails_is_not_recorded():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2, 3])
        with paddle_lab.trace() as trace, pytest.raises(TypeError):
            paddle._C_ops.matmul(x, "not a tensor", False, False)
    assert len(trace.ops) == 0
