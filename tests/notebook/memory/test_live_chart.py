"""``%paddle_mem``: the chart that samples until it is stopped."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.notebook.memory.measured_shell import X_BYTES
from tests.notebook.shell import run

if TYPE_CHECKING:
    import pytest
    from IPython.core.interactiveshell import InteractiveShell

    from paddle_lab.magics.memory.memory_line import MemoryLineMagic
    from paddle_lab.magics.memory.notebook_memory import NotebookMemory
    from paddle_lab.views.widgets.memory_widget import LiveMemory


def _memory(shell: InteractiveShell) -> NotebookMemory:
    line: MemoryLineMagic = shell.magics_manager.magics["line"]["paddle_mem"].__self__
    return line._memory


def _chart(shell: InteractiveShell) -> LiveMemory:
    line: MemoryLineMagic = shell.magics_manager.magics["line"]["paddle_mem"].__self__
    assert line._chart._widget is not None
    return line._chart._widget


def _sampling_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "paddle_lab" in thread.name]


def _all_have_ended() -> bool:
    # A thread may still be importing the module that talks to the driver.
    for thread in _sampling_threads():
        thread.join(timeout=60)
    return not _sampling_threads()


def test_the_chart_samples_until_it_is_ended(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%paddle_mem").raise_error()
    assert "A live chart of memory" in capsys.readouterr().out
    threads = _sampling_threads()
    assert "paddle_lab sampler" in [thread.name for thread in threads]
    first = shell.execution_count
    run(shell, "import time\nfor _ in range(20):\n    time.sleep(0.01)")
    run(shell, "%paddle_mem").raise_error()  # shows the same chart again
    assert set(_sampling_threads()) <= set(threads)
    chart = _chart(shell)
    marked = [mark.label for mark in chart.sampler.cells()]
    assert marked[1:] == [f"[{first}]", f"[{first + 1}]"]
    run(shell, "%paddle_mem off").raise_error()
    assert (chart.is_running, chart.stopped_because) == (False, "%paddle_mem off")
    assert _all_have_ended()


def test_unloading_ends_the_chart(shell: InteractiveShell) -> None:
    run(shell, "%paddle_mem")
    chart = _chart(shell)
    shell.run_line_magic("reload_ext", "paddle_lab")
    assert not chart.is_running
    assert _all_have_ended()


def test_a_peak_that_an_earlier_one_hides_is_sampled(shell: InteractiveShell) -> None:
    run(shell, "high = [x * 2 for _ in range(8)]\ndel high")
    run(shell, "%paddle_mem")
    run(shell, "import time\nlow = [x * 2 for _ in range(4)]\ntime.sleep(1)\ndel low")
    run(shell, "%paddle_mem off")
    entry = _memory(shell).ledger[-1]
    assert entry.peak_source == "sampled"
    assert entry.peak_bytes == entry.before_bytes + 4 * X_BYTES


def test_off_without_a_chart_says_so(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%paddle_mem off").raise_error()
    assert "No chart is on." in capsys.readouterr().out
