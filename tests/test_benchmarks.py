"""Tapes are valid records, and a run's figures become a page. Nothing is measured."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import paddle_lab
from benchmarks.exported_graph import exported, write_dot, write_model_explorer
from benchmarks.figures import Figure, Figures, number, read, told
from benchmarks.figures_page import Part, Run, page, read_run, write_run
from benchmarks.tape_models import decoder
from benchmarks.tapes import tape
from paddle_lab.api import Trace
from paddle_lab.trace.schema import ENUMERATIONS, RECORD_TABLES

FAMILIES = ("chain", "residual", "attention", "hub", "hub-chain", "nested")


@pytest.fixture(scope="module")
def small_decoder():
    return Trace(decoder(blocks=4, experts=2, odd=2).record())


@pytest.fixture(params=[*(f"{family}-48" for family in FAMILIES), "chain-48-backward", "decoder"])
def trace(request, small_decoder):
    return small_decoder if request.param == "decoder" else tape(request.param)


def test_keys_of_a_tape_point_at_rows_that_are_there(trace):
    record = trace.record
    for table, columns in RECORD_TABLES.items():
        for column, kind in columns.items():
            values = record.tables[table][column]
            if kind.startswith("key:"):
                assert np.all((values >= -1) & (values < len(record.tables[kind[4:]]))), column
            elif kind.startswith("enum:"):
                assert np.all(values < len(ENUMERATIONS[kind[5:]])), column
            elif kind == "str":
                assert np.all((values >= 0) & (values < len(record.strings))), column


def test_ops_of_a_tape_come_in_order_and_use_what_was_made_before(trace):
    record = trace.record
    starts = record.ops["start_ns"]
    assert np.all(np.diff(starts) > 0)
    producers = record.tensors["producer"][record.uses["tensor"]]
    is_input = record.uses["role"] == 0
    assert np.all(producers[is_input] < record.uses["op"][is_input])
    assert np.all(record.ops["stack"] >= 0)


def test_a_tape_has_no_findings_and_every_grad_node_is_reached(trace):
    assert list(trace.findings) == []
    members = trace.view_record.backward_members["grad_node"]
    assert len(set(members.tolist())) == len(trace.record.grad_nodes)


def test_a_tape_is_saved_and_read_back(trace, tmp_path):
    read_back = paddle_lab.load(trace.save(tmp_path / "tape.pltrace")).record
    for name, table in trace.record.tables.items():
        for column, values in table.columns.items():
            assert np.array_equal(values, read_back.tables[name][column])


def test_lines_of_a_tape_lie_in_its_sources(trace):
    record = trace.record
    lengths = {
        record.strings[file]: record.strings[text].count("\n") + 1
        for file, text in zip(record.sources["file"], record.sources["text"], strict=True)
    }
    for file, line in zip(record.frames["file"], record.frames["line"], strict=True):
        name = record.strings[file]
        if not name.startswith("paddle/"):
            assert 1 <= line <= lengths[name]


def test_a_tape_is_the_same_each_time():
    first, second = (tape("residual-30").payload() for _ in range(2))
    assert first == second


def test_equal_blocks_of_the_decoder_are_equal_and_the_odd_one_is_not(small_decoder):
    groups = small_decoder.view_record.groups
    labels = [small_decoder.view_record.strings[code] for code in groups["label"]]
    structures = [int(groups["structure"][labels.index(f"blocks.{i}")]) for i in range(4)]
    assert structures[0] == structures[1] == structures[3] != structures[2]


def test_tapes_that_were_kept_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_TAPES", str(tmp_path))
    tape("chain-12")
    assert (tmp_path / "chain-12.pltrace").exists()
    assert len(tape("chain-12").ops) == 12


def test_an_unknown_tape_is_told():
    with pytest.raises(KeyError, match="there is no tape knot-7"):
        tape("knot-7")


def test_other_tools_get_the_whole_graph(small_decoder, tmp_path):
    record, graph = small_decoder.record, exported(small_decoder)
    assert len(graph.labels) == len(graph.groups) == len(record.ops) + len(record.grad_nodes)
    edge_count = len(small_decoder.view_record.op_edges) + len(record.grad_edges)
    assert len(graph.edges) == edge_count
    dot = write_dot(graph, tmp_path / "graph.dot").read_text()
    assert dot.count(" -> ") == edge_count
    assert dot.count("{") == dot.count("}")
    nodes = json.loads(write_model_explorer(graph, tmp_path / "graph.json").read_text())
    nodes = nodes["graphs"][0]["nodes"]
    assert sum(len(node["incomingEdges"]) for node in nodes) == edge_count
    assert "backward/net/blocks.0/attention/query" in {node["namespace"] for node in nodes}


ROWS = (
    Figure("chain-5000", "load", value=210.0, unit="ms", bar=300.0),
    Figure("chain-5000", "load", "Netron", 1.3, "s"),
    Figure("chain-5000", "load", "Model Explorer", note="crash"),
    Figure("two|thousand", "pan", value=21.0, unit="frames/s", bar=30.0, at_least=True),
    Figure("gpt-96", "save", value=1234.0, unit="ms", note="as it is"),
)


def test_rows_are_kept_though_a_script_fails_later(tmp_path):
    figures = Figures(tmp_path / "rows.json")
    for row in ROWS:
        figures.add(row)
        assert read(tmp_path / "rows.json")[-1] == row


def test_a_bar_is_held_or_not():
    assert [row.holds for row in ROWS] == [True, None, None, False, None]
    assert Figure("chain-5000", "load", bar=1.0, note="timeout").holds is False


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.0, "ms", "1.23 s"),
        (999.4, "ms", "999 ms"),
        (12.34, "bytes/op", "12.3 bytes/op"),
        (1.5, "x", "1.50 ×"),
        (0.0, "", "0.00"),
    ],
)
def test_numbers_have_three_digits_that_count(value, unit, text):
    assert number(value, unit) == text


@pytest.fixture
def run():
    part = Part(
        "python benchmarks/pages.py", 12.4, "0.1, 0.2, 0.3", list(ROWS), "# Own\n\n| a |\n|---|"
    )
    failed = Part(
        "node benchmarks/frames.mjs", 60.0, "1.0, 1.0, 1.0",
        [Figure("frames.mjs", "benchmark", note="failed: longer than 60 s")],
        failure="longer than 60 s",
    )  # fmt: skip
    return Run({"date": "2026-01-02", "machine": "2 × something"}, [part, failed])


def test_a_run_is_read_as_it_was_written(run, tmp_path):
    write_run(run, tmp_path / "figures.json")
    assert read_run(tmp_path / "figures.json") == run


def test_the_page_has_all_rows(run):
    text = page(run)
    assert "| date | 2026-01-02 |" in text
    assert "| chain-5000 | load | 210 ms | ≤ 300 ms | yes |" in text
    assert "| two\\|thousand | pan | 21.0 frames/s | ≥ 30.0 frames/s | **no** |" in text
    assert "| chain-5000 | load | 210 ms | crash | 1.30 s |" in text
    assert "| gpt-96 | save | Paddle Lab | 1.23 s | as it is |" in text
    assert "| frames.mjs | benchmark | Paddle Lab | failed: longer than 60 s |  |" in text
    assert "### Own" in text
    assert told(ROWS[2]) == "crash"


def test_the_picture_shows_every_tool(run, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.figures_plot import draw

    draw(run.rows, tmp_path / "figures.svg", ink="#123456")
    drawn = ElementTree.parse(tmp_path / "figures.svg")
    texts = {"".join(element.itertext()).strip() for element in drawn.iter()}
    assert {"Paddle Lab", "Netron", "Model Explorer", "chain-5000: load"} <= texts
    assert "#123456" in Path(tmp_path / "figures.svg").read_text()
