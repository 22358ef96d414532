"""A trace must not change results, errors, lifetimes, or Paddle's objects."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import paddle
import pytest
from paddle import nn

import paddle_lab
from tests.bugs.bug_file import faults
from tests.capture.observation import digest
from tests.models import MODELS, STATIC_MODELS, Build

STEPS = 2


def two_steps(build: Build) -> list[dict[str, str]]:
    step = build()
    return [digest(step()) for _ in range(STEPS)]


@pytest.mark.parametrize("name", [*MODELS, *STATIC_MODELS])
def test_loss_and_gradients_are_bit_identical_and_no_check_alarms(name):
    build = {**MODELS, **STATIC_MODELS}[name]
    plain = two_steps(build)

    with paddle_lab.trace() as trace:
        traced = two_steps(build)
    with paddle_lab.trace(check="all", grads=True, values=True) as with_checks:
        checked = two_steps(build)

    assert traced == plain
    assert checked == plain
    assert len(traced[0]) > 1
    assert len(trace.ops) > 0
    alarms = [finding for finding in with_checks.findings if finding.severity != "info"]
    assert not alarms, "\n".join(map(str, alarms))
    assert faults(with_checks) == []


def test_random_numbers_go_on_as_without_a_trace():
    def draw():
        return [paddle.rand([3]).numpy(), nn.functional.dropout(paddle.ones([9])).numpy()]

    paddle.seed(3)
    plain = [draw(), draw(), draw()]
    paddle.seed(3)
    traced = [draw()]
    with paddle_lab.trace():
        traced.append(draw())
    traced.append(draw())

    for one, other in zip(plain, traced, strict=True):
        assert all(map(np.array_equal, one, other))


def test_tensors_die_when_the_traced_code_drops_them():
    with paddle_lab.trace():
        tensor = paddle.rand([64, 64]) * 2
        reference = weakref.ref(tensor)
        del tensor
        assert reference() is None
        layer = nn.Linear(4, 4)
        output = layer(paddle.rand([2, 4]))
        references = [weakref.ref(layer), weakref.ref(output), weakref.ref(layer.weight)]
        del layer, output
        gc.collect()
        assert [reference() for reference in references] == [None] * 3


def test_a_trace_does_not_keep_what_the_backward_pass_has_freed():
    stat = paddle.base.core.host_memory_stat_current_value
    layer = nn.Linear(256, 256)
    data = paddle.rand([512, 256])

    def step():
        layer(data).tanh().exp().sum().backward()
        layer.clear_gradients()

    step()
    gc.collect()
    before = stat("Allocated", 0)
    with paddle_lab.trace():
        for _ in range(20):
            step()
        gc.collect()
        during = stat("Allocated", 0)

    assert during - before < 512 * 256 * 4  # less than one activation


def test_a_trace_does_not_keep_what_a_forward_pass_saved():
    stat = paddle.base.core.host_memory_stat_current_value
    layer = nn.Linear(256, 256)
    data = paddle.rand([512, 256])
    gc.collect()
    before = stat("Allocated", 0)
    with paddle_lab.trace():
        for _ in range(20):
            layer(data).tanh().exp().sum()
        gc.collect()
        during = stat("Allocated", 0)

    assert during - before < 3 * 512 * 256 * 4  # what one forward pass saves


def test_patches_that_the_traced_code_makes_stay(monkeypatch):
    def add(left, right):
        return "mine"

    def call(self, *inputs, **named):
        return self.forward(*inputs, **named)

    monkeypatch.setattr(paddle.Tensor, "__add__", paddle.Tensor.__add__)
    monkeypatch.setattr(nn.Layer, "__call__", nn.Layer.__call__)
    with paddle_lab.trace():
        paddle.Tensor.__add__ = add
        nn.Layer.__call__ = call

    assert paddle.Tensor.__add__ is add
    assert nn.Layer.__call__ is call
    monkeypatch.undo()


def test_many_traces_leave_no_more_behind_than_few():
    layer = nn.Linear(4, 4)
    data = paddle.rand([2, 4])

    def traced_step():
        with paddle_lab.trace():
            layer(data).sum().backward()
        gc.collect()

    for _ in range(3):
        traced_step()
    before = len(gc.get_objects())
    for _ in range(20):
        traced_step()

    assert len(gc.get_objects()) - before < 20


def test_models_copy_pickle_and_save_inside_a_trace(tmp_path):
    layer = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    data = paddle.rand([2, 3])
    expected = layer(data).numpy()

    with paddle_lab.trace():
        twin = copy.deepcopy(layer)
        revived = pickle.loads(pickle.dumps(data))
        paddle.save(layer.state_dict(), str(tmp_path / "model.pdparams"))
        twin.set_state_dict(paddle.load(str(tmp_path / "model.pdparams")))
        inside = twin(revived).numpy()

    assert np.array_equal(inside, expected)
    assert np.array_equal(twin(revived).numpy(), expected)


def test_functions_picked_up_inside_a_trace_work_after_it():
    data = paddle.to_tensor([-1.0, 2.0])
    with paddle_lab.trace() as trace:
        relu, add, scale = paddle._C_ops.relu, paddle.Tensor.__add__, nn.Linear.__call__
        relu(data)

    assert relu(data).tolist() == [0.0, 2.0]
    assert add(data, 1).tolist() == [0.0, 3.0]
    assert scale(nn.Linear(2, 2), data).shape == [2]
    assert len(trace.ops) == 1


def test_a_module_imported_inside_a_trace_is_bound_to_paddles_own_functions(tmp_path, monkeypatch):
    (tmp_path / "imported_inside.py").write_text("from paddle._C_ops import relu, matmul\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with paddle_lab.trace() as trace:
        import imported_inside

        imported_inside.relu(paddle.ones([2]))

    assert imported_inside.relu is paddle._C_ops.relu
    assert imported_inside.matmul is paddle._C_ops.matmul
    assert "relu" in [op.name for op in trace.ops]


def test_functions_still_look_like_themselves_inside_a_trace():
    signature = inspect.signature(nn.Layer.__call__)
    with paddle_lab.trace():
        assert paddle._C_ops.relu.__name__ == "relu"
        assert paddle.Tensor.__add__.__name__ == "__add__"
        assert inspect.signature(nn.Layer.__call__) == signature


def test_operators_that_do_not_apply_answer_as_without_a_trace():
    class Right:
        def __radd__(self, other):
            return "right"

    data = paddle.ones([2])

    def answers():
        return [data == None, data != "text", data + Right()]  # noqa: E711

    plain = answers()
    with paddle_lab.trace():
        assert [str(answer) for answer in answers()] == [str(answer) for answer in plain]
