"""The summary as text."""

from __future__ import annotations

import pytest

from paddle_lab.analysis.answers import with_answers
from paddle_lab.views.text.summary import duration, one_line, summary_text
from tests.trace.records import RecordWriter


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [(0, "0 µs"), (11_400, "11 µs"), (1_500_000, "1.5 ms"), (2_340_000_000, "2.34 s")],
)
def test_durations_have_a_unit_that_suits(duration_ns, text):
    assert duration(duration_ns) == text


def test_a_summary_has_counts_layers_backwards_and_notices():
    w = RecordWriter()
    w.origin.paddle = "3.3.1"
    w.origin.notices.append("A thread was not seen.")
    with w.layer("net", "Net"):
        with w.layer("net.fc", "Linear"):
            w.op("linear", duration_ns=5_000_000, line=3)
        w.op("relu", duration_ns=1_000_000)
    with w.scope("optimizer", "SGD"):
        w.op("sgd_", phase="optimizer")
    w.backward(w.grad_node("ReluGradNode", 1), line=9, create_graph=True)
    w.backward(kind="remaining")
    lines = summary_text(with_answers(w.record())).splitlines()
    assert lines[0] == "Cell 4: 3 ops · 1 grad node · 1.5 ms"
    assert lines[1] == "Paddle 3.3.1"
    assert lines[2] == "Ops: 2 forward, 1 optimizer"
    assert "A thread was not seen." in lines
    words = [line.split() for line in lines]
    net = ["net", "Net", "1", "[2,", "3]", "0", "≥", "6", "48", "B", "6.000", "ms"]
    assert net in words
    assert ["net.fc", "Linear", "1", "[2,", "3]", "0", "–", "24", "B", "5.000", "ms"] in words
    assert "  Tensor.backward at Cell 4, line 9: 1 grad node, create_graph" in lines
    assert "  not run: 0 grad nodes of tensors that were alive at the end" in lines


def test_an_empty_trace_has_a_summary():
    record = with_answers(RecordWriter().record())
    assert summary_text(record) == f"{one_line(record)}\n{'Ops: none'}"


def test_backward_calls_of_one_line_with_equal_graphs_are_one_line():
    w = RecordWriter()
    for op in range(3):
        w.op("relu")
        w.backward(w.grad_node("ReluGradNode", op), line=9)
    w.backward(line=12)
    lines = summary_text(with_answers(w.record())).splitlines()
    assert lines[-2:] == [
        "  3 × Tensor.backward at Cell 4, line 9: 1 grad node",
        "  Tensor.backward at Cell 4, line 12: 0 grad nodes",
    ]
