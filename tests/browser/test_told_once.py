"""An error is shown once: in the traceback or in the finding above the graph, else folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import NotebookPage, notebook_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.server_process import JupyterServer

from tests.browser.conftest import opened_notebooks

SETUP = "%load_ext paddle_lab\nimport paddle, paddle_lab\npaddle_lab.language('en')"
SHAPES = """%%paddle_trace
x = paddle.ones([3, 4])
weight = paddle.ones([5, 2])
y = paddle.matmul(x, weight)"""
BACKWARD = """%%paddle_trace
net = paddle.nn.GRU(4, 8)
state = None
for step in range(3):
    out, state = net(paddle.randn([2, 5, 4]), state)
    out.mean().backward()"""
MEMORY = """%%paddle_trace
h = paddle.ones([8])
raise RuntimeError("ResourceExhaustedError: Out of memory error on GPU 0. (at /paddle/x.cc:1)")"""
PYTHON = """%%paddle_trace
scores = {"a": paddle.ones([2]).sum()}
scores["b"]"""
CELLS = {"shapes": 1, "backward": 2, "memory": 3, "python": 4}


@pytest.fixture(scope="module")
def notebook(lab_server: JupyterServer, browser: Browser, screenshots) -> Iterator[NotebookPage]:
    for open_notebook in opened_notebooks(lab_server, browser, screenshots, "told_once"):
        opened = open_notebook(notebook_of(SETUP, SHAPES, BACKWARD, MEMORY, PYTHON))
        for cell in range(5):
            opened.run_cell(cell)
        yield opened


def banner(notebook: NotebookPage, name: str) -> Locator:
    view = GraphView(notebook.cell(CELLS[name]))
    view.wait_until_drawn()
    view.app.scroll_into_view_if_needed()
    notebook.screenshot(f"told_once_{name}")
    return view.app.locator(".pdl-banner")


@pytest.mark.parametrize(
    ("name", "error", "line", "message"),
    [
        ("shapes", "ValueError", 4, "InvalidArgument"),
        ("memory", "RuntimeError", 3, "Out of memory"),
        ("python", "KeyError", 3, "'b'"),
    ],
)
def test_the_traceback_tells_it(
    notebook: NotebookPage, name: str, error: str, line: int, message: str
) -> None:
    row = banner(notebook, name)
    link = f"Cell {CELLS[name] + 1}, line {line}"
    expect(row).to_have_text(
        f"Stopped by{error} · {link}" + ("ShowMore" if name == "shapes" else "More")
    )
    row.get_by_role("button", name="More").click()
    expect(row).to_contain_text(message)
    row.get_by_role("button", name="Less").click()
    row.get_by_role("button", name=link).click()
    assert (
        notebook.selected_line()
        == [SHAPES, BACKWARD, MEMORY, PYTHON][CELLS[name] - 1].split("\n")[-1]
    )


def test_the_finding_tells_it(notebook: NotebookPage) -> None:
    row = banner(notebook, "backward")
    expect(row).to_have_text("Stopped bySystemError · Cell 3, line 6More")
    cell = notebook.cell(CELLS["backward"])
    findings = cell.get_by_role("region", name="Findings")
    expect(findings).to_contain_text("computes with a tensor that")
    expect(findings.get_by_role("button", name="1 more")).to_have_count(0)
    outputs = " ".join(cell.locator(".jp-OutputArea-child").all_inner_texts())
    assert cell.locator("div[style*='border-left']").count() == 0, "no note says it again"
    assert outputs.count("computes with a tensor that") == 1
