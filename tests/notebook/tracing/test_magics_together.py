"""``%%paddle_trace`` with other magics, and in a shell that is reset, reloaded or called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError

from tests.notebook.shell import run
from tests.notebook.tracing.conftest import SETUP

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def test_below_another_magic_the_trace_is_named_after_the_cell(shell: InteractiveShell) -> None:
    count = shell.execution_count
    run(shell, "%%time\n%%paddle_trace -q\nnet(x)")
    trace = shell.user_ns["_trace"]
    assert trace.record.origin.title == f"Cell {count}"
    assert len(trace.ops) == 1


def test_another_magic_around_it_works(shell: InteractiveShell) -> None:
    run(shell, "%%time\n%%paddle_trace -q -o timed\nnet(x)").raise_error()
    assert len(shell.user_ns["timed"].ops) == 1


def test_another_magic_below_it_works(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -q -o timed\n%%time\nnet(x)").raise_error()
    assert len(shell.user_ns["timed"].ops) == 1


@pytest.mark.parametrize("outer", ["paddle_trace", "paddle_mem"])
def test_of_two_magics_of_ours_the_lower_one_is_at_work_and_the_other_says_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], outer: str
) -> None:
    run(shell, f"%%{outer} -o outer\n%%paddle_trace -q -o inner\nnet(x)").raise_error()
    shown = capsys.readouterr()
    assert f"%%{outer} was ignored: %%paddle_trace is below it" in shown.err
    assert "0 ops" not in shown.out
    assert "outer" not in shell.user_ns
    (op,) = shell.user_ns["inner"].ops
    assert (op.name, op.line) == ("linear", 3)


def test_reset_does_not_take_the_magic_away(shell: InteractiveShell) -> None:
    run(shell, "%reset -f")
    run(shell, SETUP + "\n")
    run(shell, "%%paddle_trace -q\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1


def test_unloading_in_a_traced_cell_ends_its_trace(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_trace -q\nnet(x)\n%reload_ext paddle_lab\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1


def test_a_call_of_the_magic_works(shell: InteractiveShell) -> None:
    shell.run_cell_magic("paddle_trace", "-q -o called", "net(x)\n")
    assert len(shell.user_ns["called"].ops) == 1


def test_a_cell_that_runs_cells_is_traced_to_its_end(shell: InteractiveShell) -> None:
    run(
        shell,
        "%%paddle_trace -q\nnet(x)\nget_ipython().run_cell('inner = net(x)')\nnet(x)",
    ).raise_error()
    assert len(shell.user_ns["_trace"].ops) == 3


def test_loading_twice_changes_nothing_and_unloading_takes_all_away(
    shell: InteractiveShell,
) -> None:
    transformers = len(shell.input_transformers_cleanup)
    shell.run_line_magic("reload_ext", "paddle_lab")
    assert len(shell.input_transformers_cleanup) == transformers
    run(shell, "%%paddle_trace -q\nnet(x)").raise_error()
    assert len(shell.user_ns["_trace"].ops) == 1
    shell.run_line_magic("unload_ext", "paddle_lab")
    assert len(shell.input_transformers_cleanup) == transformers - 1
    assert isinstance(run(shell, "%%paddle_trace -q\n1").error_in_exec, UsageError)
    shell.run_line_magic("load_ext", "paddle_lab")
