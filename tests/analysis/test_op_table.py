"""``trace.ops``, and the properties of an op: tensors, frames, layer, region."""

from __future__ import annotations

import sys

import pytest

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter


def small_trace() -> Trace:
    w = RecordWriter()
    source = "import paddle\n\ny = net(x)\nz = F.relu(y) < '<b>'"
    w.row("sources", file="cell", cell=4, first_line=1, text=source)
    x = w.tensor("x", (4, 8))
    weight = w.parameter("net.fc.weight", (8, 2))
    with (
        w.layer("net", "Net"),
        w.scope("region", "head"),
        w.layer("net.fc", "Linear"),
        w.call("linear", line=3, file="paddle/f.py", kind="paddle"),
    ):
        y = w.op("linear", x, weight, line=50, shape=(4, 2))
    w.op("relu", y, line=4, shape=(4, 2), attributes="0.5", duration_ns=2000, thread=1)
    w.op("<script>alert(1)</script>", line=4, phase="backward")
    w.grad_node("AddGradNode", 0)
    w.grad_node("MatmulGradNode", 0)
    return Trace(w.record())


def test_a_row_reads_like_the_call():
    op = small_trace().ops[0]
    assert (op.key, op.name, op.layer, op.layer_class) == (0, "linear", "net.fc", "Linear")
    assert (op.region, op.phase, op.is_pylayer, op.raised) == ("head", "forward", False, False)
    assert (op.file, op.line, op.function, op.cell) == ("cell", 3, "<module>", 4)
    assert op.grad_nodes == [0, 1]
    first, weight = op.inputs
    assert (first.name, first.shape, first.kind, first.producer) == ("x", (4, 8), "external", None)
    assert (weight.path, weight.kind, weight.bytes) == ("net.fc.weight", "parameter", 64)
    (result,) = op.outputs
    assert (result.shape, result.dtype, result.place, result.producer) == (
        (4, 2),
        "float32",
        "cpu",
        0,
    )
    assert not result.stop_gradient
    assert result.version == 0


def test_times_threads_and_attributes():
    op = small_trace().ops[1]
    assert (op.start_ns, op.duration_ns, op.thread, op.attributes) == (1100, 2000, 1, "0.5")
    assert (op.layer, op.region) == ("", None)


def test_a_stack_is_innermost_first_with_the_source():
    inner, outer = small_trace().ops[0].stack
    assert (inner.function, inner.line, inner.kind, inner.cell, inner.text) == (
        "linear", 50, "paddle", None, "",
    )  # fmt: skip
    assert (outer.kind, outer.cell, outer.text, outer.where) == (
        "user",
        4,
        "y = net(x)",
        "Cell 4, line 3",
    )
    assert inner.where == "f.py:50"


def test_it_is_a_sequence():
    ops = small_trace().ops
    assert len(ops) == 3
    assert [op.name for op in ops][:2] == ["linear", "relu"]
    assert ops[-1].key == 2
    assert [op.key for op in ops[::-2]] == [2, 0]
    assert ops[1:][0] == ops[1]
    assert ops[0] in ops
    assert len({*ops, *ops}) == 3
    with pytest.raises(IndexError):
        ops[3]


def test_an_op_without_a_stack_can_be_read():
    w = RecordWriter()
    w.row("ops", name="relu")
    op = Trace(w.record()).ops[0]
    assert (op.stack, op.frame, op.file, op.line, op.function, op.cell) == (
        [],
        None,
        "",
        0,
        "",
        None,
    )
    assert "relu" in repr(op)


def test_its_text_is_a_table():
    text = repr(small_trace().ops)
    assert text.splitlines()[0] == "3 ops"
    assert text.splitlines()[2].split() == [
        "0",
        "linear",
        "net.fc",
        "[4,",
        "2]",
        "Cell",
        "4,",
        "line",
        "3",
        "1",
        "µs",
    ]


def test_a_long_table_is_cut():
    w = RecordWriter()
    for _ in range(50):
        w.op("relu")
    ops = Trace(w.record()).ops
    assert repr(ops).splitlines()[-1] == "… 30 more"
    assert "30 more" in ops._repr_html_()


def test_its_html_shows_names_as_text():
    html = small_trace().ops._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_pandas_has_a_row_an_op():
    frame = small_trace().ops.to_pandas()
    assert list(frame.index) == [0, 1, 2]
    assert list(frame["layer"]) == ["net.fc", "", ""]
    assert frame.loc[1, "duration_ns"] == 2000
    assert frame.loc[0, "outputs"] == ["linear_0 float32 [4, 2]"]


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        small_trace().ops.to_pandas()


def test_backward_calls_and_regions_are_listed():
    w = RecordWriter()
    with w.scope("region", "head"), w.scope("region", "inner"):
        w.op("relu")
    node = w.grad_node("ReluGradNode", 0)
    w.backward(node, line=9, error="boom")
    trace = Trace(w.record())
    (call,) = trace.backward_calls
    assert (call.kind, call.frame.line, call.grad_node_count) == ("Tensor.backward", 9, 1)
    assert call.error == "boom"
    assert [(region.name, region.op_count) for region in trace.regions] == [
        ("head", 1),
        ("inner", 1),
    ]
