"""What ``paddle_lab.rerun`` does about errors: the user's, a second run's, its own."""

from __future__ import annotations

import paddle
import pytest

import paddle_lab


def test_an_error_is_the_users_own_and_nothing_is_kept():
    def step():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        paddle_lab.rerun(step)


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


@pytest.mark.parametrize(
    "part", ["state.states_of", "runs.differences", "contents.Contents.put_back"]
)
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
