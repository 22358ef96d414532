"""What the export menu saves in a real Jupyter application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of
from tests.browser.saved_page import opened

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.browser.conftest import OpenNotebook

_TRACED = """%%paddle_trace
conv = paddle.nn.Conv2D(3, 4, 3, stride=2)
y = conv(paddle.ones([1, 3, 8, 8])).mean()"""


def _export(view: GraphView, entry: str) -> None:
    view.app.get_by_role("button", name="Export", exact=True).click()
    view.app.get_by_role("menuitem", name=entry).click()


def test_the_page_that_is_saved_is_whole_and_needs_no_kernel(
    jupyter_page: OpenNotebook, browser: Browser, tmp_path: Path
) -> None:
    notebook = jupyter_page(notebook_of("%load_ext paddle_lab\nimport paddle", _TRACED))
    notebook.run_all()
    view = GraphView(notebook.cell(1))
    view.wait_until_drawn()
    with notebook.page.expect_download() as download:
        _export(view, "Save as HTML")
    assert download.value.suggested_filename == "cell-2.html"
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)

    page, trouble = opened(browser, saved)
    expect(page.locator("#pdl-root[data-state=ready]")).to_be_attached()
    again = GraphView(page.locator("#pdl-root"))
    again.click(again.op("conv2d"))
    expect(again.panel.locator(".pdl-attributes code").first).to_have_text("strides=[2, 2]")
    defaults = again.panel.locator(".pdl-attributes .pdl-soft")
    expect(defaults.filter(has_text="groups=1")).to_have_count(1)
    expect(defaults.filter(has_text="strides")).to_have_count(0)
    assert not trouble
    page.context.close()

    notebook.server.end_kernels()
    _export(view, "Save as HTML")
    expect(view.app.locator(".pdl-said")).to_contain_text("The kernel did not answer")
    notebook.screenshot("no_kernel")
