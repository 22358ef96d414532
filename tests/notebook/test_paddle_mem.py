"""``%%paddle_mem`` and ``%paddle_mem`` in a real IPython shell."""

from __future__ import annotations

import gc
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from IPython.core.error import UsageError
from paddle.base import core

import paddle_lab
from paddle_lab.analysis.memory.sizes import size_text
from paddle_lab.trace.schema import HOLDER_KINDS
from tests.notebook.shell import fresh_shell, run

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from paddle_lab.magics.memory_line import MemoryLineMagic
    from paddle_lab.magics.notebook_memory import NotebookMemory
    from paddle_lab.views.widgets.memory_widget import LiveMemory

_SETUP = """import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(256, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 256))
x = paddle.ones([512, 256])
"""
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
_ROW_BYTES = 256 * 4
_X_BYTES = 512 * _ROW_BYTES


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with fresh_shell(setup=_SETUP) as shell:
        yield shell


def allocated() -> int:
    gc.collect()
    count: int = core.host_memory_stat_current_value("Allocated", 0)
    return count


def held(trace: paddle_lab.Trace) -> dict[tuple[str, str], int]:
    """Return who holds what the cell allocated: kind and name to bytes."""
    alive = set(trace.memory.still_alive().keys.tolist())
    return {
        (holder.kind, holder.name): sum(
            block.bytes for block in holder.allocations if block.key in alive
        )
        for holder in trace.memory.holders()
    }


def test_a_cells_memory_is_recorded_and_its_value_is_its_own(shell: InteractiveShell) -> None:
    before = allocated()
    result = run(shell, "%%paddle_mem -q\ny = net(x)\ny.shape")
    assert result.result == [512, 256]
    memory = shell.user_ns["_trace"].memory
    assert (memory.start_bytes, memory.end_bytes) == (before, allocated())
    assert memory.peak_bytes >= before + 3 * _X_BYTES


def test_holders_have_the_names_that_the_notebook_gives_them(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("experiment")
    module.__file__ = "/somewhere/experiment.py"
    vars(module)["seen"] = []
    monkeypatch.setitem(sys.modules, "experiment", module)
    cell = shell.execution_count
    run(
        shell,
        "%%paddle_mem -q -o t\n"
        "import experiment\n"
        "cache = {'kept': [x * 2]}\n"
        "experiment.seen.append(x * 3)\n"
        "big = x * 4\n"
        "first = big[:1]\n"
        "del big\n"
        "hidden = net[1](net[0](x))\n"
        "loss = (hidden * hidden).mean()\n"
        "del hidden\n"
        "x * 5",
    ).raise_error()
    assert {
        ("container", "cache['kept'][0]"): _X_BYTES,
        ("container", "experiment.seen[0]"): _X_BYTES,
        ("view", "first"): _X_BYTES,
        ("output", f"Out[{cell}]"): _X_BYTES,
        ("backward_graph", "loss"): _X_BYTES,
        ("variable", "loss"): 4,
    }.items() <= held(shell.user_ns["t"]).items()


def test_a_variable_of_a_failed_call_is_held_by_the_last_traceback(shell: InteractiveShell) -> None:
    run(shell, "def f(x):\n    big = x * 2\n    raise ValueError\n")
    result = run(shell, "%%paddle_mem -q\nf(x)")
    assert isinstance(result.error_in_exec, ValueError)
    assert held(shell.user_ns["_trace"])["traceback", "big in f(), last traceback"] == _X_BYTES


def test_what_the_notebook_alone_keeps_is_let_go(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = allocated()
    run(shell, "def f(x):\n    big = x * 2\n    raise ValueError\n")
    cell = shell.execution_count
    run(shell, "x * 3")
    run(shell, "y = x * 4\ny")
    run(shell, "f(x)")
    assert allocated() == before + 3 * _X_BYTES
    capsys.readouterr()

    run(shell, "%paddle_mem free").raise_error()
    said = capsys.readouterr().out
    assert allocated() == before + _X_BYTES
    assert said.startswith("Freed 1.00 MiB by letting go of ")
    assert f"Out[{cell}]" in said
    assert f"Out[{cell + 1}]" not in said  # y holds it too
    assert "the last traceback" in said
    assert cell + 1 in shell.user_ns["Out"]
    assert cell not in shell.user_ns["Out"]

    run(shell, "%paddle_mem free").raise_error()
    assert "Nothing to free" in capsys.readouterr().out


def test_the_last_value_is_let_go_under_all_its_names(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = allocated()
    run(shell, "[x * 3]")
    assert allocated() == before + _X_BYTES
    shell.run_line_magic("paddle_mem", "free")  # no cell of its own, as from the button
    assert allocated() == before
    assert shell.user_ns["_"] == ""


def test_the_ledger_has_an_entry_a_cell_that_changed_memory(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    first = shell.execution_count
    run(shell, "a = x * 2\nb = x * 3\ndel b")
    run(shell, "1 + 1")
    run(shell, "%%paddle_mem -q\nkept = x * 4")
    capsys.readouterr()
    run(shell, "%paddle_mem report").raise_error()
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split("  ")[0]: line for line in lines if line.startswith("[")}
    assert list(rows)[-2:] == [f"[{first}]", f"[{first + 2}]"]
    assert rows[f"[{first + 2}]"].endswith("512.0 KiB  kept 512.0 KiB")
    living = "\n".join(lines).partition("Alive now")[2]
    for name in ("net", "x", "a", "kept"):
        assert f"  {name}\n" in living


def test_a_report_says_what_a_view_keeps(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "first = (x * 2)[:2]")
    run(shell, "%paddle_mem report")
    assert "a view of 2.00 KiB keeps 512.0 KiB" in capsys.readouterr().out


def test_the_line_below_the_cell_tells_the_ledger(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem\nkept = x * 4")
    said = capsys.readouterr().out
    assert "Still alive from this cell: 512.0 KiB, held by kept 512.0 KiB." in said
    run(shell, "%%paddle_mem\n(x * 4).sum().item();")
    assert "Nothing from this cell is still alive." in capsys.readouterr().out


def test_beside_another_profiler_it_claims_no_more_than_it_saw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with fresh_shell(setup=_SETUP + _A_PROFILER) as shell:
        run(shell, _PROFILED).raise_error()
        trace = shell.user_ns["_trace"]
        assert trace.memory.end_bytes == allocated()
    assert trace.memory.is_partial
    said = capsys.readouterr().out
    (line,) = re.findall(r"Memory on cpu: .*", said)
    # The 8 MiB that came and went are not known, the 512 KiB that stayed are.
    before, after = trace.memory.start_bytes, trace.memory.end_bytes
    assert after - before == _X_BYTES
    assert f"≥ {size_text(after)} at the peak, {size_text(after)} after" in line
    assert "alive" not in line
    assert repr(trace.memory).startswith("at least ")


def test_memory_magics_keep_no_tensor_alive(shell: InteractiveShell) -> None:
    run(shell, "y = x * 2")
    before = allocated()
    run(shell, "%%paddle_mem -q\nz = x * 3\ny = z * z\ndel z")
    run(shell, "%paddle_mem report")
    run(shell, "%paddle_mem free")
    assert allocated() == before
    run(shell, "del y")
    assert allocated() == before - _X_BYTES


def test_the_trace_is_saved_with_its_holders(shell: InteractiveShell, tmp_path: Path) -> None:
    path = tmp_path / "step.pltrace"
    run(shell, f"%%paddle_mem -q --save '{path}'\nkept = x * 4").raise_error()
    record = paddle_lab.load(path).record
    kinds = {HOLDER_KINDS[kind] for kind in record.holders["kind"]}
    assert "variable" in kinds
    assert held(paddle_lab.load(path))["variable", "kept"] == _X_BYTES


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("%paddle_mem repot", "%paddle_mem has no 'repot'; did you mean report?"),
        ("%paddle_mem nothing", "it has on, off, report, free"),
        ("%paddle_mem on --higth 3", "did you mean --height?"),
        ("%paddle_mem --height 3", "--height is 160 to 2000 pixels, not 3"),
        ("%%paddle_mem --vew memory\nran = True", "%%paddle_mem has no option --vew; did you mean"),
        ("%%paddle_mem --view sideways\nran = True", "invalid choice: 'sideways'"),
    ],
)
def test_a_wrong_word_is_one_sentence(
    shell: InteractiveShell, command: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(shell, command)
    assert isinstance(result.error_in_exec, UsageError)
    printed = capsys.readouterr()
    assert sentence in printed.err + printed.out
    assert "ran" not in shell.user_ns


def test_off_without_a_chart_says_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%paddle_mem off").raise_error()
    assert "No chart is on." in capsys.readouterr().out


@pytest.mark.parametrize("magic", ["%paddle_mem", "%%paddle_mem"])
def test_the_help_tells_the_words(
    shell: InteractiveShell, magic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, f"{magic}?")
    printed = capsys.readouterr().out
    assert f"{magic} [" in printed


def test_unloading_takes_the_magics_away(shell: InteractiveShell) -> None:
    shell.run_line_magic("unload_ext", "paddle_lab")
    magics = shell.magics_manager.magics
    assert "paddle_mem" not in magics["line"]
    assert "paddle_mem" not in magics["cell"]
    shell.run_line_magic("load_ext", "paddle_lab")
    run(shell, "%%paddle_mem -q\nkept = x * 4").raise_error()


def test_a_traced_cell_in_a_measured_one_begins_anew(shell: InteractiveShell) -> None:
    run(shell, "%%paddle_mem -q\n%paddle_mem off\nx * 2").raise_error()
    assert len(shell.user_ns["_trace"].allocations) > 0


def test_the_chart_samples_until_it_is_ended(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%paddle_mem").raise_error()
    assert "A live chart of memory" in capsys.readouterr().out
    (thread,) = _sampling_threads()
    first = shell.execution_count
    run(shell, "import time\nfor _ in range(20):\n    time.sleep(0.01)")
    run(shell, "%paddle_mem").raise_error()  # shows the same chart again
    assert _sampling_threads() == [thread]
    chart = _chart(shell)
    marked = [mark.label for mark in chart.sampler.cells()]
    assert marked[1:] == [f"[{first}]", f"[{first + 1}]"]
    run(shell, "%paddle_mem off").raise_error()
    assert (chart.is_running, chart.stopped_because) == (False, "%paddle_mem off")
    assert _sampling_threads() == []


def test_unloading_ends_the_chart(shell: InteractiveShell) -> None:
    run(shell, "%paddle_mem")
    chart = _chart(shell)
    shell.run_line_magic("reload_ext", "paddle_lab")
    assert not chart.is_running
    assert _sampling_threads() == []


def test_a_peak_that_an_earlier_one_hides_is_sampled(shell: InteractiveShell) -> None:
    run(shell, "high = [x * 2 for _ in range(8)]\ndel high")
    run(shell, "%paddle_mem")
    run(shell, "import time\nlow = [x * 2 for _ in range(4)]\ntime.sleep(1)\ndel low")
    run(shell, "%paddle_mem off")
    entry = _memory(shell).ledger[-1]
    assert entry.peak_source == "sampled"
    assert entry.peak_bytes == entry.before_bytes + 4 * _X_BYTES


def _memory(shell: InteractiveShell) -> NotebookMemory:
    line: MemoryLineMagic = shell.magics_manager.magics["line"]["paddle_mem"].__self__
    return line._memory


def _chart(shell: InteractiveShell) -> LiveMemory:
    line: MemoryLineMagic = shell.magics_manager.magics["line"]["paddle_mem"].__self__
    assert line._chart._widget is not None
    return line._chart._widget


def _sampling_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "paddle_lab" in thread.name]


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
    assert "check the shapes it is given" in advice
    assert put.startswith("• Put %%paddle_mem on the cell")


def test_out_of_memory_names_who_holds_what_was_there_before(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "big = paddle.ones([2048, 2048])")
    run(shell, "%%paddle_mem\npaddle.empty([2**44])")
    report = capsys.readouterr().out.partition("What to do")[2]
    assert re.search(r"16\.0 MiB +1  big\n", report)


def test_a_leak_is_told_below_the_cell_with_the_variable_that_gathers_it(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "import paddle_lab\nbig = paddle.ones([2048, 2048])\nlosses = []")
    run(shell, _LEAK).raise_error()
    said = capsys.readouterr().out
    assert re.search(r"at Cell \d+, line 4: something keeps what it makes, in losses\. Keep", said)
    run(shell, _LEAK.replace("losses", "[]")).raise_error()
    assert "Memory grows" not in capsys.readouterr().out


def test_another_error_has_no_report(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem\nx * 2\n1 / 0")
    assert "Out of memory" not in capsys.readouterr().out
    assert shell.user_ns["_trace"].record.origin.exception.startswith("ZeroDivisionError")


def test_quiet_is_quiet_about_memory_too(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%%paddle_mem -q\nkept = x * 2")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
def test_a_search_that_fails_costs_no_trace(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, fault: type[BaseException]
) -> None:
    def interrupted(_memory: NotebookMemory) -> None:
        raise fault

    monkeypatch.setattr("paddle_lab.magics.notebook_memory.NotebookMemory.living", interrupted)
    run(shell, "%%paddle_mem -q\nkept = x * 2").raise_error()
    trace = shell.user_ns["_trace"]
    assert len(trace.allocations) > 0
    assert trace.record.origin.notices[-1].endswith(f"the search ended in {fault.__name__}.")
