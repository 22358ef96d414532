"""A notebook saved with its widgets' state is small, and complete without a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import expect

from paddle_lab.trace.file import save
from paddle_lab.trace.schema import RECORD_TABLES
from paddle_lab.trace.table import Table
from tests.browser.notebook_page import notebook_of
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from paddle_lab.trace.record import Record
    from tests.browser.conftest import OpenNotebook

LARGEST_BYTES = 200_000
_RELOAD_LIMIT_MS = 60_000

A_STEP_OF_24_LAYERS = """%%paddle_trace
layer = paddle.nn.TransformerEncoderLayer(64, 4, 128)
net = paddle.nn.TransformerEncoder(layer, 24)
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
net(paddle.randn([2, 16, 64])).mean().backward()
optimizer.step()"""


def test_1000_ops_take_less_than_200_kb_and_are_drawn_again(lab_page: OpenNotebook) -> None:
    notebook = lab_page(
        notebook_of("%load_ext paddle_lab\nimport paddle", A_STEP_OF_24_LAYERS, "len(_trace.ops)")
    )
    notebook.run_all()
    notebook.save_widget_state()
    expect(notebook.cell(1).locator(".pdl-canvas > canvas")).to_be_visible()
    assert int(notebook.output_text(2)) > 1000
    notebook.save()

    saved = notebook.saved()
    states = saved.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    (widget,) = [entry["state"] for entry in states if "_view_build" in entry["state"]]
    assert not widget.get("_view_script")
    size_bytes = (notebook.server.root / notebook.path).stat().st_size
    assert size_bytes < LARGEST_BYTES

    notebook.leave()
    again = notebook.reopened(kernel=False)
    expect(again.cell(1).locator(".pdl-canvas > canvas")).to_be_visible()
    again.screenshot("widget_state_without_kernel")


def test_a_reloaded_page_gets_the_graph_from_the_kernel(lab_page: OpenNotebook) -> None:
    cell = "%%paddle_trace\npaddle.ones([2, 2]).exp()"
    notebook = lab_page(notebook_of("%load_ext paddle_lab\nimport paddle", cell))
    notebook.run_all()
    canvas = notebook.cell(1).locator(".pdl-canvas > canvas")
    expect(canvas).to_be_visible()
    notebook.save()
    notebook.page.reload()
    expect(canvas).to_be_visible(timeout=_RELOAD_LIMIT_MS)
    assert notebook.errors() == []


LARGEST_OF_ANY_TRACE_BYTES = 2_000_000
BLOCKS, OPS_A_BLOCK = 60, 4000


def large_record() -> Record:
    """Return 240,000 ops in 60 equal blocks, with times that compress badly."""
    w = RecordWriter()
    for block in range(BLOCKS):
        w.row("scopes", kind="region", name=f"block{block}")
    w.op("relu", line=2)
    record = w.record()
    count = BLOCKS * OPS_A_BLOCK
    random = np.random.default_rng(0)
    columns = {name: np.repeat(column, count) for name, column in record.ops.columns.items()}
    columns["scope"] = np.repeat(np.arange(BLOCKS, dtype=np.int32), OPS_A_BLOCK)
    columns["duration_ns"] = random.integers(10_000, 60_000, count)
    columns["start_ns"] = np.cumsum(random.integers(60_000, 90_000, count))
    record.tables["ops"] = Table(columns)
    for name in ("tensors", "uses"):
        record.tables[name] = Table.empty(RECORD_TABLES[name])
    return record


def test_a_large_trace_is_stored_reduced_and_says_so(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(
        notebook_of("import paddle_lab", 'trace = paddle_lab.load("large.pdltrace")\ntrace')
    )
    save(large_record(), notebook.server.root / "large.pdltrace")
    notebook.run_cell(0)
    notebook.run_cell(1)
    if notebook.server.application == "lab":
        notebook.save_widget_state()
    output = notebook.cell(1)
    expect(output.locator(".pdl-canvas > canvas")).to_be_visible()
    expect(output.get_by_text("240 000 ops").first).to_be_visible()
    expect(output.get_by_text("reduced copy")).to_have_count(0)
    notebook.save()
    size_bytes = (notebook.server.root / notebook.path).stat().st_size
    assert size_bytes < LARGEST_OF_ANY_TRACE_BYTES

    notebook.page.reload()
    expect(output.locator(".pdl-canvas > canvas")).to_be_visible(timeout=_RELOAD_LIMIT_MS)
    expect(output.get_by_text("reduced copy")).to_have_count(0, timeout=_RELOAD_LIMIT_MS)
    expect(output.get_by_text("240 000 ops").first).to_be_visible()

    notebook.leave()
    again = notebook.reopened(kernel=False).cell(1)
    expect(again.locator(".pdl-canvas > canvas")).to_be_visible()
    expect(again.get_by_text("This notebook stores a reduced copy")).to_be_visible()
    expect(again.get_by_text("240 000 ops").first).to_be_visible()
