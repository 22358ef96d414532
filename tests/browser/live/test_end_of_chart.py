"""How the live chart ends: it is stopped or cleared, or its kernel dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opened_notebooks
from tests.browser.live.live_chart import CHART_ON, chart_of, start_cell
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.server_process import JupyterServer

THREADS = """import threading
print("paddle_lab sampler" in [thread.name for thread in threading.enumerate()])"""
DIES = "import os, signal\nos.kill(os.getpid(), 9)"


@pytest.fixture(scope="module")
def opened(
    lab_server: JupyterServer, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    for open_notebook in opened_notebooks(lab_server, browser, screenshots, "end_of_chart"):
        yield open_notebook(notebook_of(CHART_ON, THREADS, DIES))


@pytest.fixture
def notebook(opened: NotebookPage) -> NotebookPage:
    """A notebook whose first cell has just shown a chart, which is live."""
    opened.run_cell(0)
    chart_of(opened)
    return opened


def test_it_stops_when_its_output_is_cleared(notebook: NotebookPage) -> None:
    notebook.run_cell(1)
    assert notebook.output_text(1).strip() == "True"

    notebook.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }"
    )
    notebook.command("notebook:clear-cell-output")
    expect(notebook.page.locator(".pdl-live")).to_have_count(0)

    # A view in another tab has a few seconds to report itself.
    for _ in range(20):
        notebook.page.wait_for_timeout(500)
        notebook.run_cell(1)
        if notebook.output_text(1).strip() == "False":
            break
    assert notebook.output_text(1).strip() == "False"


def test_its_button_stops_it_and_it_says_so(notebook: NotebookPage) -> None:
    chart = chart_of(notebook)

    chart.get_by_role("button", name="Stop").click()

    expect(chart).to_have_attribute("data-state", "stopped")
    expect(chart.locator(".pdl-live-state")).to_contain_text("Stopped")
    notebook.run_cell(1)
    assert notebook.output_text(1).strip() == "False"


# This test is the last, because the other tests use the kernel.
def test_a_kernel_that_dies_is_silence_and_not_a_flat_line(notebook: NotebookPage) -> None:
    chart = chart_of(notebook)

    start_cell(notebook, 2)

    expect(chart).to_have_attribute("data-state", "silent")
    expect(chart.locator(".pdl-live-state")).to_contain_text("the kernel has ended")
