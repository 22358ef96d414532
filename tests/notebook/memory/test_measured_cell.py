"""``%%paddle_mem``: what a cell allocated, and the text below it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddle_lab.analysis.memory.sizes import size_text
from tests.notebook.memory.measured_shell import SETUP, X_BYTES, allocated
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    import pytest
    from IPython.core.interactiveshell import InteractiveShell

_A_PROFILER = """from paddle.profiler import Profiler, ProfilerTarget
def a_profiler():
    return Profiler(targets=[ProfilerTarget.CPU], on_trace_ready=lambda _: None)
with a_profiler():  # the first one wraps some of Paddle's functions for good
    pass
"""
_PROFILED = """%%paddle_mem
with a_profiler():
    (paddle.ones([8, 512, 512]) * 2).sum().item()
    kept = x * 4
"""
_LEAK = """%%paddle_mem
kept = big * 2
for _ in range(6):
    losses.append(net(x))
    paddle_lab.step()
"""


def test_a_cells_memory_is_recorded_and_its_value_is_its_own(shell: InteractiveShell) -> None:
    before = allocated()
    result = run(shell, "%%paddle_mem -q\ny = net(x)\ny.shape")
    assert result.result == [512, 256]
    memory = shell.user_ns["_trace"].memory
    assert (memory.start_bytes, memory.end_bytes) == (before, allocated())
    assert memory.peak_bytes >= before + 3 * X_BYTES


def test_the_line_below_the_cell_tells_the_ledger(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem\nkept = x * 4")
    said = capsys.readouterr().out
    assert "Still alive from this cell: 512.0 KiB, held by kept 512.0 KiB." in said
    run(shell, "%%paddle_mem\n(x * 4).sum().item();")
    assert "Nothing from this cell is still alive." in capsys.readouterr().out


def test_a_leak_is_told_below_the_cell_with_the_variable_that_gathers_it(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "import paddle_lab\nbig = paddle.ones([2048, 2048])\nlosses = []")
    run(shell, _LEAK).raise_error()
    said = capsys.readouterr().out
    assert re.search(r"at Cell \d+, line 4: something keeps what it makes, in losses\. Keep", said)
    run(shell, _LEAK.replace("losses", "[]")).raise_error()
    assert "Memory grows" not in capsys.readouterr().out


def test_quiet_is_quiet_about_memory_too(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem -q\nkept = x * 2")
    assert capsys.readouterr().out == ""


def test_a_traced_cell_in_a_measured_one_begins_anew(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_mem -q\n%paddle_mem off\nx * 2").raise_error()
    assert len(shell.user_ns["_trace"].allocations) > 0


def test_beside_another_profiler_it_claims_no_more_than_it_saw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fresh_shell(setup=SETUP + _A_PROFILER) as shell:
        run(shell, _PROFILED).raise_error()
        trace = shell.user_ns["_trace"]
        assert trace.memory.end_bytes == allocated()
    assert trace.memory.is_partial
    said = capsys.readouterr().out
    (line,) = re.findall(r"Memory on cpu: .*", said)
    # The 8 MiB that were allocated and freed are not known, but the 512 KiB that stayed are.
    before, after = trace.memory.start_bytes, trace.memory.end_bytes
    assert after - before == X_BYTES
    assert f"≥ {size_text(after)} at the peak, {size_text(after)} after" in line
    assert "alive" not in line
    assert repr(trace.memory).startswith("at least ")
