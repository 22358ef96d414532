"""The memory notebook, run in JupyterLab as a reader would.

`memory/` and `live/` test the same views in Notebook 7.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opened_notebooks
from tests.browser.graph_view import GraphView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.server_process import JupyterServer

_MEMORY = Path(__file__).parents[2] / "notebooks" / "02_memory.ipynb"
# Positions in the notebook, from 0.
_CHART, _BEFORE, _AFTER, _PEAKS, _LOOP, _GROWTH, _SHOWN, _REPORT, _FREE = (
    3, 7, 12, 13, 15, 16, 18, 19, 21,
)  # fmt: skip


@pytest.fixture(scope="module")
def notebook(
    lab_server: JupyterServer, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    """The notebook with all its cells run."""
    for open_notebook in opened_notebooks(lab_server, browser, screenshots, "memory-lab"):
        notebook = open_notebook(_MEMORY)
        notebook.run_all()
        yield notebook


def _text(notebook: NotebookPage, index: int) -> str:
    return notebook.cell(index).locator(".jp-OutputArea").inner_text()


def test_no_cell_fails_and_the_reader_halves_the_peak(notebook: NotebookPage) -> None:
    assert notebook.errors() == []
    peaks = re.search(r"peak (\d+) MiB before, (\d+) MiB after", _text(notebook, _PEAKS))
    assert peaks is not None
    assert 2 * int(peaks[2]) <= int(peaks[1])


@pytest.mark.parametrize("index", [_BEFORE, _AFTER, _LOOP])
def test_a_measured_cell_shows_its_memory_and_its_line_of_the_ledger(
    notebook: NotebookPage, index: int
) -> None:
    view = GraphView(notebook.cell(index))
    expect(view.app.get_by_role("button", name="Memory")).to_have_attribute("aria-pressed", "true")
    expect(notebook.cell(index)).to_contain_text("Still alive from this cell")
    view.app.scroll_into_view_if_needed()
    expect(view.app.locator("[data-span]").first).to_be_visible()
    notebook.screenshot(f"memory-cell-{index}")


def test_what_is_still_alive_has_the_names_of_who_holds_it(notebook: NotebookPage) -> None:
    view = GraphView(notebook.cell(_LOOP))
    view.app.get_by_role("button", name="Still alive").click()
    memory = view.app.get_by_role("region", name="Memory")
    expect(memory).to_contain_text("losses[0]")
    expect(memory).to_contain_text("encoder.head.weight.grad")
    notebook.cell(_LOOP).get_by_text("Still alive from this cell").scroll_into_view_if_needed()
    notebook.screenshot("memory-still-alive")


def test_the_leak_is_told_by_its_line(notebook: NotebookPage) -> None:
    assert "self.head(self.blocks(signals))" in _text(notebook, _GROWTH)


def test_the_report_names_holders_and_its_button_frees(notebook: NotebookPage) -> None:
    notebook.run_cell(_SHOWN)
    notebook.run_cell(_REPORT)
    report = notebook.cell(_REPORT)
    shown = f"Out[{notebook.execution_count(_SHOWN)}]"
    expect(report).to_contain_text("only the notebook holds it")
    expect(report).to_contain_text(shown)
    expect(report).to_contain_text("optimizer")
    report.scroll_into_view_if_needed()
    notebook.screenshot("memory-report")
    report.get_by_role("button", name="Free what only the notebook holds").click()
    expect(report).to_contain_text(re.compile(rf"Freed .* by releasing {re.escape(shown)}"))
    notebook.run_cell(_FREE)
    expect(notebook.cell(_FREE)).to_contain_text("Nothing to free")


def test_the_chart_stood_till_it_was_ended(notebook: NotebookPage) -> None:
    chart = notebook.cell(_CHART)
    chart.scroll_into_view_if_needed()
    expect(chart).to_contain_text("%paddle_mem off")
    notebook.screenshot("memory-chart")
