"""Memory in the summary."""

from __future__ import annotations

from paddle_lab.api import Trace
from tests.analysis.memory.test_growth import loop
from tests.analysis.memory.test_out_of_memory import GPU_TEXT, with_kind
from tests.analysis.memory.traces import training_step


def test_a_summary_has_the_peak_and_whose_it_was():
    lines = training_step().summary().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Memory"))
    total, by_kind, by_line, held = lines[at : at + 4]
    assert total.startswith("Memory: 234.4 KiB peak on cpu, at 0.003 ms; 48.8 KiB when the trace")
    assert by_kind.startswith("  at the peak by kind: saved activation 42% · activation 21% · ")
    assert by_line.startswith("  at the peak by line: Cell 4, line 3 58% · Cell 4, line 4 21% · ")
    assert held == "  held at the end by y 48.8 KiB"


def test_a_leak_is_in_the_summary():
    trace = loop(10, lambda _: [(5, 640, None)])
    assert "  Memory grows by 640 B a step at Cell 4, line 5: something keeps" in trace.summary()


def test_advice_is_in_the_summary_of_a_cell_that_ran_out_of_memory():
    w = with_kind("gradient")
    w.origin.exception = GPU_TEXT
    assert "clear_grad(set_to_zero=False)" in Trace(w.record()).summary()
