"""``%%paddle_trace --against``: a cell compared with an earlier trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import paddle_lab
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    import pytest

CELL = "%%paddle_trace {options}\nx = paddle.ones([3])\ny = paddle.tanh(x * {scale})"


def test_a_cell_is_compared_with_the_last_trace(capsys: pytest.CaptureFixture[str]) -> None:
    with fresh_shell(setup="import paddle") as shell:
        run(shell, CELL.format(options="--digest -o before", scale=2.0)).raise_error()
        run(shell, CELL.format(options="--against last", scale=3.0)).raise_error()
        comparison: Any = shell.user_ns["_comparison"]
        assert isinstance(comparison, paddle_lab.Comparison)
        assert comparison.a is shell.user_ns["before"]
        assert comparison.b is shell.user_ns["_trace"]
        assert comparison.first.name == "multiply"
        assert comparison.first.cell == 3
        assert "was `y = paddle.tanh(x * 2.0)`" in comparison.record.origin.notices[1]
        assert "is the first op that differs" in repr(comparison)
        assert capsys.readouterr().err == ""
        run(shell, CELL.format(options="--against before -q", scale=2.0)).raise_error()
        assert shell.user_ns["_comparison"].first is None


def test_the_line_of_the_magic_is_no_edit() -> None:
    cell = "%%paddle_trace {}\nscale = {}\ny = paddle.tanh(x * scale)"
    with fresh_shell(setup="import paddle; x = paddle.ones([3])") as shell:

        def details(scale: float) -> list[str]:
            run(shell, cell.format("--digest", 2.0)).raise_error()
            shell.run_cell("x = x + 1")
            run(shell, cell.format("--against last", scale)).raise_error()
            notices: list[str] = shell.user_ns["_comparison"].record.origin.notices
            return notices[1:]

        assert len(details(2.0)) == 1  # only the tensor that differs
        assert "was `scale = 2.0`, now `scale = 3.0`" in details(3.0)[-1]


def test_a_comparison_that_fails_leaves_the_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> None:
        raise ArithmeticError("no order")

    monkeypatch.setattr("paddle_lab.magics.traced_cell.compare", failing)
    with fresh_shell(setup="import paddle") as shell:
        run(shell, CELL.format(options="--digest", scale=2.0)).raise_error()
        run(shell, CELL.format(options="--against last", scale=3.0)).raise_error()
        assert len(shell.user_ns["_trace"].ops) == 3
        assert "ArithmeticError: no order" in capsys.readouterr().err


def test_an_unknown_trace_is_refused_before_the_cell_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fresh_shell(setup="import paddle") as shell:
        run(shell, CELL.format(options="--against nothing", scale=1))
        assert "--against names no trace: nothing" in capsys.readouterr().err
        assert "y" not in shell.user_ns
