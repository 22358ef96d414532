"""Scopes of static programs as holders of a cell's memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import paddle_lab
from tests.notebook.memory.measured_shell import held
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

SETUP = """import numpy as np
import paddle
paddle.enable_static()
training, startup = paddle.static.Program(), paddle.static.Program()
with paddle.utils.unique_name.guard(), paddle.static.program_guard(training, startup):
    fc = paddle.nn.Linear(256, 512)
    loss = paddle.mean(fc(paddle.static.data("images", [None, 256])))
executor = paddle.static.Executor()
batch = {"images": np.ones([1000, 256], "float32")}
apart = paddle.static.Scope()
"""
WEIGHT_BYTES = 256 * 512 * 4


@pytest.fixture
def static_shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=SETUP) as shell:
        try:
            yield shell
        finally:
            run(shell, "paddle.disable_static()").raise_error()


def test_a_scope_is_named_with_its_variables(
    static_shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = static_shell
    run(
        shell,
        "%%paddle_mem -q -o t\n"
        "with paddle.static.scope_guard(apart):\n"
        "    executor.run(startup)\n"
        "    executor.run(training, feed=batch, fetch_list=[loss])\n"
        "executor.run(startup)\n",
    ).raise_error()
    trace = shell.user_ns["t"]
    assert {
        ("scope", "linear_0.w_0 in apart"): WEIGHT_BYTES,
        ("scope", "linear_0.b_0 in apart"): 512 * 4,
        ("scope", "images in apart"): 1000 * 256 * 4,
        ("scope", "linear_0.w_0 in paddle.static.global_scope()"): WEIGHT_BYTES,
    }.items() <= held(trace).items()
    # Memory that an Executor keeps is not saved for backward.
    kinds = {block.kind for block in trace.memory.still_alive() if block.bytes >= WEIGHT_BYTES}
    assert kinds == {"unknown"}
    capsys.readouterr()
    run(shell, "%paddle_mem report").raise_error()
    report = capsys.readouterr().out
    assert "Paddle keeps scopes: `del` frees nothing" in report
    paddle_lab.language("zh")
    try:
        run(shell, "%paddle_mem report").raise_error()
    finally:
        paddle_lab.language("en")
    assert "Paddle 保留 Scope：`del` 不会释放它" in capsys.readouterr().out


def test_a_scope_that_only_an_output_names_is_not_offered_to_be_freed(
    static_shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = static_shell
    run(
        shell,
        "own = paddle.static.Scope()\n"
        "with paddle.static.scope_guard(own): executor.run(startup)\n"
        "executor.close()\n"
        "del executor",
    ).raise_error()
    run(shell, "own").raise_error()
    run(shell, "del own").raise_error()
    capsys.readouterr()
    run(shell, "%paddle_mem report").raise_error()
    lines = capsys.readouterr().out.splitlines()
    (line,) = [one for one in lines if "Out[" in one]
    assert "Paddle keeps scopes" in line
    run(shell, "%paddle_mem free").raise_error()
    assert "Out[" not in capsys.readouterr().out


def test_a_scope_and_its_variables_stay_as_they_are(static_shell: InteractiveShell) -> None:
    shell = static_shell
    run(shell, "apart.var('steps').get_dense_tensor_array()").raise_error()
    run(shell, "executor.run(startup, scope=apart)").raise_error()
    before = run(shell, "sorted(apart.local_var_names())").result
    run(shell, "%%paddle_mem -q\nexecutor.run(training, feed=batch, scope=apart)").raise_error()
    run(shell, "%paddle_mem report").raise_error()
    after = run(shell, "sorted(apart.local_var_names())").result
    assert set(before) <= set(after) <= {*before, "images"}
    run(shell, "apart.find_var('steps').get_dense_tensor_array()").raise_error()


def test_an_empty_variable_stays_free_for_any_type(static_shell: InteractiveShell) -> None:
    run(static_shell, "empty = apart.var('rows')").raise_error()
    run(static_shell, "%paddle_mem report").raise_error()
    run(static_shell, "_ = empty.get_selected_rows()").raise_error()
