"""The note below the traceback of a cell that ran out of memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.notebook.shell import run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_FAILING = "def f(x):\n    kept = [x * i for i in range(4)]\n    return paddle.empty([2**44])\n"


def test_out_of_memory_is_reported_under_the_traceback(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, _FAILING)
    result = run(shell, "%%paddle_mem\nf(x)")
    assert isinstance(result.error_in_exec, MemoryError)
    said = capsys.readouterr().out
    report = said[said.index("Out of memory: empty at Cell") :]
    assert said.index("Fail to alloc memory") < said.index("Out of memory: empty")
    assert "asked for 64.0 TiB" in report
    assert "kept = [x * i for i in range(4)]" in report
    assert "What to do" in report
    assert "held by last traceback 2.00 MiB" in report


def test_out_of_memory_without_recorded_memory_says_what_is_alive(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, _FAILING)
    run(shell, "%%paddle_trace\nf(x)")
    said = capsys.readouterr().out
    report = said[said.index("Out of memory: empty at Cell") :]
    assert said.index("Fail to alloc memory") < said.index(report)
    assert "asked for 64.0 TiB, " in report
    assert re.search(r"2\.00 MiB +4  last traceback +only the notebook holds it", report)
    _, advice, put = report.partition("What to do")[2].splitlines()
    assert advice.startswith("• empty at Cell")
    assert "Check its input shapes" in advice
    assert put.startswith("• Put %%paddle_mem on the cell")


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_out_of_memory_is_found_behind_the_error_that_was_made_of_it(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], magic: str
) -> None:
    run(
        shell,
        "def load():\n    try:\n        return paddle.empty([2**44])\n"
        "    except MemoryError as error:\n        raise RuntimeError('no batch') from error\n",
    )
    result = run(shell, f"{magic}\nload()")
    assert isinstance(result.error_in_exec, RuntimeError)
    assert "Out of memory: empty at Cell" in capsys.readouterr().out
    raised = shell.user_ns["_trace"].record.origin.exception
    assert raised.startswith("RuntimeError: no batch\nfrom MemoryError")


def test_out_of_memory_names_who_holds_what_was_there_before(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "big = paddle.ones([2048, 2048])")
    run(shell, "%%paddle_mem\npaddle.empty([2**44])")
    report = capsys.readouterr().out.partition("What to do")[2]
    assert re.search(r"16\.0 MiB +1  big\n", report)


@pytest.mark.parametrize("magic", ["%%paddle_trace", "%%paddle_mem"])
def test_quiet_is_quiet_about_it_too(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], magic: str
) -> None:
    run(shell, f"{magic} -q\npaddle.empty([2**44])")
    assert "Out of memory" not in capsys.readouterr().out
    assert "Fail to alloc memory" in shell.user_ns["_trace"].record.origin.exception


def test_another_error_has_no_report(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem\nx * 2\n1 / 0")
    assert "Out of memory" not in capsys.readouterr().out
    assert shell.user_ns["_trace"].record.origin.exception.startswith("ZeroDivisionError")
