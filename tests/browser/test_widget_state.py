"""A notebook saved with the state of its widgets: small, and whole without a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

LARGEST_BYTES = 200_000
SAVE_WIDGET_STATE = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"

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
    notebook.command(SAVE_WIDGET_STATE)
    notebook.run_all()
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
    expect(canvas).to_be_visible(timeout=20_000)
    assert notebook.errors() == []
