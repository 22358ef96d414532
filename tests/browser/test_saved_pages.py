"""A trace without a kernel: the saved page, and the fallback in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from paddle_lab.comparing import compare
from tests.browser.saved_page import opened
from tests.trace.records import RecordWriter
from tests.views.hostile import hostile_record

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.conftest import OpenNotebook


def blocks() -> Trace:
    w = RecordWriter()
    source = "\n".join(f"line {number}" for number in range(1, 30))
    w.row("sources", file="cell", cell=4, first_line=1, text=source)
    x, last = w.op("full"), None
    with w.layer("net", "Net"):
        for i in range(4):
            with w.layer(f"net.blocks.{i}", "Block"):
                y = w.op("linear", x, w.parameter(f"net.blocks.{i}.weight"), line=10)
                x = w.op("add", w.op("relu", y, line=11), x, line=12)
            node = w.grad_node("AddGradNode", w.producer(x))
            if last is not None:
                w.grad_edge(node, last)
            last = node
    w.backward(last)
    return Trace(w.record())


def test_a_page_shows_the_graph_and_loads_nothing(
    browser: Browser, tmp_path: Path, screenshots: Path
) -> None:
    page, trouble = opened(browser, blocks().to_html(tmp_path / "page.html"))
    expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
    expect(page.get_by_role("tree")).to_be_attached()
    page.screenshot(path=screenshots / "page.png")
    assert trouble == []
    page.context.close()


def test_a_comparison_begins_where_the_runs_first_differ(browser: Browser, tmp_path: Path) -> None:
    def chain(last: str) -> Trace:
        w = RecordWriter()
        x = w.op("full")
        for name in [*(f"op_{number}" for number in range(30)), last, "relu"]:
            x = w.op(name, x)
        return Trace(w.record())

    path = compare(chain("tanh"), chain("sin")).to_html(tmp_path / "comparison.html")
    page, trouble = opened(browser, path)
    expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
    canvas = page.locator(".pdl-canvas canvas")
    assert float((canvas.get_attribute("data-camera") or "").split()[1]) < -1000
    assert trouble == []
    page.context.close()


def test_a_page_has_a_picture_where_scripts_do_not_run(
    browser: Browser, tmp_path: Path, screenshots: Path
) -> None:
    path = blocks().to_html(tmp_path / "page.html")
    page, trouble = opened(browser, path, scripts=False)
    expect(page.locator("noscript svg text", has_text="AddGrad").first).to_be_visible()
    page.screenshot(path=screenshots / "page_without_scripts.png")
    assert trouble == []
    page.context.close()


def test_a_hostile_trace_cannot_run_anything(
    browser: Browser, tmp_path: Path, screenshots: Path
) -> None:
    trace = Trace(hostile_record())
    page, trouble = opened(browser, trace.to_html(tmp_path / "page.html"))
    expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
    page.screenshot(path=screenshots / "page_hostile.png")
    assert page.title().startswith("</script>")
    assert page.locator("img[onerror], [onload], [onclick]").count() == 0
    assert trouble == []
    page.context.close()


def notebook_with_fallback(trace: Trace) -> nbformat.NotebookNode:
    output = nbformat.v4.new_output("display_data", {"text/html": trace.fallback_html()})
    cell = nbformat.v4.new_code_cell("trace", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    return notebook


@pytest.mark.parametrize("name", ["blocks", "hostile"])
def test_the_fallback_survives_the_sanitizer_of_an_untrusted_notebook(
    jupyter_page: OpenNotebook, name: str
) -> None:
    trace = blocks() if name == "blocks" else Trace(hostile_record())
    notebook = jupyter_page(notebook_with_fallback(trace))
    output = notebook.cell(0).locator(".jp-RenderedHTMLCommon")
    picture = output.locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 400
    expect(output.get_by_text("install it there, then reload the page")).to_be_visible()
    output.locator("summary", has_text="Lines and their costs").click()
    expect(output.locator("details[open] table").first).to_be_visible()
    notebook.screenshot(f"fallback_{name}")
    assert "owned" not in notebook.page.title()
