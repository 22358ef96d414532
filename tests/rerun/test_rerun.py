"""``paddle_lab.rerun`` and errors: of the user's code, of the second run, and its own."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

import paddle_lab


def test_an_error_is_the_users_own_and_nothing_is_kept():
    def step():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        paddle_lab.rerun(step)


@pytest.mark.parametrize("is_removed", [False, True])
def test_hooks_of_tensors_from_before_are_registered_once(is_removed):
    weight = paddle.ones([2])
    weight.stop_gradient = False
    before = weight.register_hook(lambda gradient: gradient * 2)

    def step():
        (weight * 3).sum().backward()
        if is_removed:
            before.remove()
        else:
            weight.register_hook(lambda gradient: gradient * 5)

    trace = paddle_lab.rerun(step)
    assert len(trace.record.origin.notices) == 2
    assert all("hook" in notice for notice in trace.record.origin.notices)
    assert trace.findings == []
    weight.clear_grad()
    (weight * 3).sum().backward()
    assert weight.grad.tolist() == ([3.0, 3.0] if is_removed else [30.0, 30.0])


def test_hooks_of_new_tensors_are_no_obstacle():
    weight = paddle.ones([2])
    weight.stop_gradient = False

    def step():
        product = weight * 3
        product.register_hook(lambda gradient: gradient * 2)
        product.sum().backward()

    trace = paddle_lab.rerun(step)
    assert (trace.record.origin.notices, trace.findings) == ([], [])


def test_layers_that_the_code_makes_have_the_same_names_in_a_second_run():
    made = []

    def step():
        made.append(paddle.nn.Linear(2, 2))
        return made[-1](paddle.ones([1, 2]))

    trace = paddle_lab.rerun(step, check="nondeterminism")
    assert (trace.record.origin.notices, trace.findings, len(made)) == ([], [], 1)
    step()
    first, second = (int(net.full_name().removeprefix("linear_")) for net in made)
    assert second == first + 1


def test_layers_made_under_a_guard_of_names_have_the_same_names_in_a_second_run():
    made = []

    def step():
        made.append(paddle.nn.Linear(2, 2))
        return made[-1](paddle.ones([1, 2]))

    with paddle.utils.unique_name.guard():
        paddle_lab.rerun(step)
        step()
    assert [net.full_name() for net in made] == ["linear_0", "linear_1"]


def test_a_second_run_that_fails_is_said_and_undone(tmp_path):
    x, runs = paddle.ones([2]), []
    path = tmp_path / "made_once"

    def step():
        x.add_(paddle.ones([2]))
        with path.open("x"):
            runs.append(x)
            return x * 2

    trace = paddle_lab.rerun(step, check="nondeterminism")
    (notice,) = trace.record.origin.notices
    assert "the second run ended in FileExistsError" in notice
    assert len(runs) == 1
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("is_static_mode", [True, False])
def test_a_static_program_is_not_run_again(is_static_mode):
    paddle.enable_static()
    try:
        program, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(program, startup):
            loss = paddle.mean(paddle.nn.Linear(4, 3)(paddle.static.data("x", [None, 4])))
            paddle.optimizer.SGD(0.1).minimize(loss)
        scope, executor = paddle.static.Scope(), paddle.static.Executor()
        executor.run(startup, scope=scope)
        runs = []

        def weights():
            return np.array(scope.find_var("linear_0.w_0").get_tensor())

        def step():
            paddle.enable_static()
            executor.run(program, feed={"x": np.ones([2, 4], "float32")}, scope=scope)
            runs.append(weights())
            if not is_static_mode:
                paddle.disable_static()

        if not is_static_mode:
            paddle.disable_static()
        trace = paddle_lab.rerun(step, check=["nondeterminism", "unwritten-output"])
        np.testing.assert_array_equal(weights(), runs[0])
    finally:
        paddle.disable_static()
    assert len(runs) == 1
    assert all("a static program cannot run twice" in one for one in trace.record.origin.notices)
    assert trace.record.origin.notices


@pytest.mark.parametrize("part", ["state.states_of", "runs.differences", "state.put_back"])
def test_a_fault_of_ours_is_a_sentence(monkeypatch, part):
    def fault(*args):
        raise LookupError("ours")

    monkeypatch.setattr(f"paddle_lab.capture.rerun.{part}", fault)
    x = paddle.ones([2])
    trace = paddle_lab.rerun(lambda: x * 2, check="nondeterminism")
    assert [op.name for op in trace.ops] == ["multiply"]
    (notice,) = trace.record.origin.notices
    assert "a fault in paddle_lab (LookupError: ours)" in notice
    assert x.tolist() == [1.0, 1.0]


def test_a_block_says_that_it_cannot_run_twice_only_where_it_was_asked_to():
    for check, count in (("nondeterminism", 1), (["unwritten-output"], 1), ("all", 0), (None, 0)):
        with paddle_lab.trace(check=check) as trace:
            paddle.ones([2])
        assert len(trace.record.origin.notices) == count
        assert "nondeterminism" not in trace.record.origin.checks


def test_a_wrong_option_is_answered():
    with pytest.raises(ValueError, match="did you mean 'nondeterminism'"):
        paddle_lab.rerun(lambda: None, check="nondeterminsm")
    with pytest.raises(TypeError, match="did you mean 'check'"):
        paddle_lab.rerun(lambda: None, chek="all")
