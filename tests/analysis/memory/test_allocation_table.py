"""``trace.allocations``: rows, tables and text."""

from __future__ import annotations

import sys

import pytest

from paddle_lab.api import Trace
from tests.analysis.memory.traces import training_step
from tests.trace.records import RecordWriter


def test_a_block_of_the_forward_pass_reads_like_its_op():
    block = training_step().allocations[1]
    assert (block.bytes, block.kind, block.phase, block.place) == (
        100_000, "saved_activation", "forward", "cpu",
    )  # fmt: skip
    assert (block.start_ns, block.end_ns) == (0, 5000)
    assert (block.op.name, block.layer, block.label) == ("linear", "net.fc", "linear")
    assert (block.file, block.line, block.where) == ("cell", 3, "Cell 4, line 3")
    assert [frame.function for frame in block.stack] == ["linear", "<module>"]
    assert block.tensor.shape == (4, 2)
    assert block.grad_node is None


def test_a_block_from_before_has_no_start_and_the_layer_that_owns_it():
    block = training_step().allocations[0]
    assert (block.start_ns, block.end_ns, block.phase) == (None, None, "")
    assert (block.layer, block.label, block.where) == ("net.fc", "net.fc.weight", "")
    assert (block.op, block.stack, block.frame, block.line) == (None, [], None, 0)


def test_a_block_of_backward_is_its_forward_op_s():
    block = training_step().allocations[4]
    assert (block.phase, block.grad_node, block.op.name) == ("backward", 0, "linear")
    assert (block.layer, block.where, block.label) == (
        "net.fc", "Cell 4, line 3", "linear, backward",
    )  # fmt: skip
    assert [frame.line for frame in block.stack] == [50, 3]


def test_a_block_of_backward_without_a_stack_is_on_its_forward_op_s_line_and_layer():
    w = RecordWriter()
    with w.layer("net.fc", "Linear"):
        w.op("linear", line=3)
    with w.scope("backward", "Tensor.backward") as scope:
        w.allocation(8, op=0, stack=-1, scope=scope, phase="backward")
    block = Trace(w.record()).allocations[0]
    assert (block.where, block.layer) == ("Cell 4, line 3", "net.fc")
    assert [frame.line for frame in block.stack] == [3]


def test_a_block_of_a_scope_without_an_op_is_its_layer_s():
    w = RecordWriter()
    with w.layer("net.fc", "Linear") as scope:
        w.allocation(8, scope=scope, line=5)
    block = Trace(w.record()).allocations[0]
    assert (block.op, block.where, block.layer) == (None, "Cell 4, line 5", "net.fc")


def test_it_is_a_sequence():
    blocks = training_step().allocations
    assert [block.key for block in blocks] == [0, 1, 2, 3, 4]
    assert blocks[-1] == blocks[1:][3]
    assert blocks[-1] != blocks[0]
    assert len({*blocks, *blocks}) == 5
    assert blocks[:2].total_bytes == 140_000


def test_a_data_frame_has_the_rows_cells():
    pandas = pytest.importorskip("pandas")
    trace = training_step()
    table = trace.allocations.to_pandas()
    assert list(table.index) == [0, 1, 2, 3, 4]
    for block in trace.allocations:
        row = table.loc[block.key]
        for name in ("bytes", "kind", "layer", "file", "line", "phase", "address", "place"):
            assert row[name] == getattr(block, name), name
        for name in ("start_ns", "end_ns", "grad_node"):
            value = getattr(block, name)
            assert pandas.isna(row[name]) if value is None else row[name] == value, name
        assert row["op_name"] == (block.op.name if block.op else "")
        assert row["path"] == (block.tensor.path if block.tensor else "")
    assert table.groupby("layer")["bytes"].sum()["net.fc"] == 210_000


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_pandas\(\) needs pandas, .* pip install pandas"):
        training_step().allocations.to_pandas()


def test_its_text_is_a_table():
    lines = repr(training_step().allocations).splitlines()
    assert lines[0] == "5 allocations, 253.9 KiB"
    assert lines[2].split() == [
        "39.1", "KiB", "parameter", "net.fc.weight", "net.fc", "before", "the", "trace", "–",
    ]  # fmt: skip
    assert "97.7 KiB  saved activation" in lines[3]
    assert lines[3].endswith("0.000 ms          0.005 ms")


def test_html_holds_names_as_text():
    w = RecordWriter()
    w.allocation(8, tensor=w.op("<script>alert(1)</script>"))
    html = Trace(w.record()).allocations._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_a_long_table_is_cut():
    w = RecordWriter()
    for start_ns in range(50):
        w.allocation(8, start_ns=start_ns)
    blocks = Trace(w.record()).allocations
    assert repr(blocks).splitlines()[-1] == "… 30 more"
    assert "30 more" in blocks._repr_html_()
