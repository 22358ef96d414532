"""``trace.log`` on a record written by hand, with text as glog writes it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from paddle_lab.api import Trace
from paddle_lab.trace.log_text import read_log
from tests.trace.records import RecordWriter


@pytest.fixture
def trace() -> Trace:
    writer = RecordWriter()
    x = writer.tensor("x")
    writer.op("matmul", x, line=7)
    node = writer.row("grad_nodes", name="MatmulGradNode", address=64, op=0)
    rows = [
        {"text": "Running", "source_file": "dygraph_functions.cc", "source_line": 5, "op": 0},
        {"text": "Preparing\nmore", "source_file": "backward.cc", "grad_node": node},
        {"text": "=cmd", "source_file": "init.cc", "thread": -1, "severity": "W"},
    ]
    for row in rows:
        writer.row("log", **{"severity": "I", "level": 3, **row})
    return Trace(writer.record())


def test_entries_have_their_op_and_grad_node(trace: Trace) -> None:
    op, node, alone = trace.log
    assert (op.name, node.name, alone.name) == ("matmul", "MatmulGradNode", "")
    assert op.op == node.op == trace.ops[0]
    assert alone.op is None
    assert (node.grad_node, alone.grad_node) == (0, None)
    assert op.frame is not None
    assert (op.frame.file, op.frame.line) == ("cell", 7)
    assert (op.source_file, op.source_line, op.level) == ("dygraph_functions.cc", 5, 3)
    assert [entry.key for entry in trace.log.of_op(0)] == [0, 1]


def test_search_finds_texts_ops_nodes_and_files(trace: Trace) -> None:
    found = {
        text: [entry.key for entry in trace.log.search(text)]
        for text in ("more", "matmul", "gradnode", "BACKWARD.cc", "nothing")
    }
    assert found == {
        "more": [1], "matmul": [0, 1], "gradnode": [1], "BACKWARD.cc": [1], "nothing": [],
    }  # fmt: skip
    assert [entry.key for entry in trace.log.search("matmul").search("Running")] == [0]


def test_other_libraries_read_it(trace: Trace, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frame = trace.log.to_pandas()
    assert frame["op"].tolist()[:2] == [0, 0]
    assert frame["op"].isna().tolist() == [False, False, True]
    assert pyarrow.table(trace.log).column("text").to_pylist() == [
        "Running",
        "Preparing\nmore",
        "=cmd",
    ]
    assert "'=cmd" in trace.log.to_csv(tmp_path / "log.csv").read_text()
    assert "3 entries" in repr(trace.log)


def test_it_is_saved_with_the_trace(trace: Trace, tmp_path: Path) -> None:
    import paddle_lab

    again = paddle_lab.load(trace.save(tmp_path / "x.pltrace"))
    assert [entry.text for entry in again.log] == [entry.text for entry in trace.log]


def test_glogs_text_is_read_entry_by_entry() -> None:
    text = (
        "what stands before\n"
        "I1231 23:59:59.999999 11 backward.cc:758] Run in Backward\n"
        "I0101 00:00:00.000001 11 dygraph_functions.cc:5] \n===Running===\nInput: [ \n]\n"
        "\tW0101 00:00:00.000002 12 a-b.h:9] 空\n"
    )
    entries = read_log(text.encode(), year=2025)
    assert entries.severity == ["I", "I", "W"]
    assert entries.file == ["backward.cc", "dygraph_functions.cc", "a-b.h"]
    assert entries.line.tolist() == [758, 5, 9]
    assert entries.native_thread.tolist() == [11, 11, 12]
    assert entries.text == ["Run in Backward", "===Running===\nInput: [ \n]", "空"]
    assert (entries.wall_ns - entries.wall_ns[0]).tolist() == [0, 2000, 3000]
    begins = time.mktime((2026, 1, 1, 0, 0, 0, 0, 0, -1))
    assert entries.wall_ns[1] == int(begins) * 10**9 + 1000


def test_an_empty_log_has_no_entries() -> None:
    assert len(read_log(b"", year=2026).text) == 0
    assert len(read_log(b"no header\n", year=2026).wall_ns) == 0


def test_entries_without_text_are_kept() -> None:
    text = (
        "I0101 00:00:00.000001 12 a.cc:1] \n"
        "I0101 00:00:00.000002 12 b.cc:2]\n\n"
        "E0101 00:00:01.000003 7 a.cc:1] x"
    )
    entries = read_log(text.encode(), year=2025)
    assert entries.text == ["", "", "x"]
    assert entries.severity == ["I", "I", "E"]
    assert entries.native_thread.tolist() == [12, 12, 7]
    assert (entries.wall_ns - entries.wall_ns[0]).tolist() == [0, 1000, 10**9 + 2000]
