"""``%%paddle_trace`` in a real IPython shell: a cell behaves as it does without the magic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError

from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def test_the_value_of_a_cell_is_its_own(shell: InteractiveShell) -> None:
    plain = run(shell, "y = net(x)\ny.shape")
    traced = run(shell, "%%paddle_trace -q\ny = net(x)\ny.shape")
    assert traced.result == plain.result
    assert shell.user_ns["Out"][shell.execution_count - 1] == plain.result
    assert [op.name for op in shell.user_ns["_trace"].ops] == ["linear"]


def test_a_semicolon_silences_the_value(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_trace -q\n6 * 7;")
    assert "42" not in capsys.readouterr().out
    run(shell, "%%paddle_trace -q\n6 * 7")
    assert "42" in capsys.readouterr().out


def test_a_variable_takes_the_trace_and_lines_are_the_cells_own(shell: InteractiveShell) -> None:
    count = shell.execution_count
    run(
        shell,
        "%%paddle_trace -o step -q --title 'One step'\n\nloss = net(x).mean()\nloss.backward()",
    )
    step = shell.user_ns["step"]
    assert step is shell.user_ns["_trace"]
    assert step.record.origin.title == "One step"
    linear = step.ops[0]
    assert (linear.cell, linear.line, linear.layer) == (count, 3, "net")
    assert linear.stack[-1].text.strip() == "loss = net(x).mean()"
    (source,) = (text for text in step.record.strings if text.startswith("%%paddle_trace"))
    assert source.splitlines()[2] == "loss = net(x).mean()"


def test_an_exception_is_the_users_own_and_the_trace_up_to_there_is_kept(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, "%%paddle_trace -q\ny = net(x)\nnet(y)\n1 / 0\nnet(x)")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    printed = capsys.readouterr().out
    assert "paddle_lab" not in printed.replace("%%paddle_trace", "")
    assert "line 4" in printed
    trace = shell.user_ns["_trace"]
    assert len(trace.ops) == 2
    assert trace.record.origin.exception == "ZeroDivisionError: division by zero"


def test_an_interrupt_ends_the_cell_and_the_trace(shell: InteractiveShell) -> None:
    result = run(shell, "%%paddle_trace -q\nnet(x)\nraise KeyboardInterrupt")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    trace = shell.user_ns["_trace"]
    assert len(trace.ops) == 1
    assert trace.record.origin.exception == "KeyboardInterrupt"


def test_a_cell_that_does_not_compile_begins_no_trace(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -o before -q\nnet(x)")
    result = run(shell, "%%paddle_trace -o after -q\nnet(x")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert "after" not in shell.user_ns


def test_top_level_await_works(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q\nimport asyncio\nawait asyncio.sleep(0)\ny = net(x)\n"
        "await asyncio.sleep(0)\nnet(y).shape",
    ).raise_error()
    ops = shell.user_ns["_trace"].ops
    assert [(op.name, op.line) for op in ops] == [("linear", 4), ("linear", 6)]


def test_the_error_of_an_op_shows_no_frame_of_ours(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, "%%paddle_trace -q\nnet(paddle.ones([2, 3]))")
    assert isinstance(result.error_in_exec, ValueError)
    printed = capsys.readouterr().out
    assert "layers.py" in printed  # Paddle's own frames stay
    assert "paddle_lab" not in printed
    assert shell.user_ns["_trace"].ops[-1].name == "linear"


def test_a_cell_without_ops_has_an_empty_trace(shell: InteractiveShell) -> None:
    assert run(shell, "%%paddle_trace -q\n1 + 1").result == 2
    assert len(shell.user_ns["_trace"].ops) == 0
    run(shell, "%%paddle_trace -q").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 0


def test_paddles_log_is_recorded_and_not_shown(
    shell: InteractiveShell, capfd: pytest.CaptureFixture[str]
) -> None:
    for options, level in (("--log", 3), ("--log 4", 4)):
        run(shell, f"%%paddle_trace -q {options}\nnet(x)\n1 / 0")
        log = shell.user_ns["_trace"].log
        assert {entry.level for entry in log} == {level}
        assert {entry.name for entry in log if entry.op} == {"linear"}
    assert "Running_AD_API" not in "".join(capfd.readouterr())
    with pytest.raises(UsageError, match="from 1 to 10"):
        run(shell, "%%paddle_trace --log 12\nnet(x)").raise_error()
