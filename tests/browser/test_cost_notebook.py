"""The example notebook on cost, run in JupyterLab as a reader would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opened_notebooks
from tests.browser.graph_view import GraphView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.server_process import JupyterServer

_COST = Path(__file__).parents[2] / "notebooks" / "05_cost.ipynb"
# Positions in the notebook, from 0.
_SLOW, _LINES, _FLOAT64, _PROFILED, _DIVERGING, _WORST, _STEADY = 4, 6, 7, 17, 20, 22, 26


@pytest.fixture(scope="module")
def cost(lab_server: JupyterServer, browser: Browser, screenshots: Path) -> Iterator[NotebookPage]:
    for open_notebook in opened_notebooks(lab_server, browser, screenshots, "cost"):
        notebook = open_notebook(_COST)
        notebook.run_all()
        yield notebook


def _app(notebook: NotebookPage, cell: int) -> Locator:
    app = GraphView(notebook.cell(cell)).app
    app.scroll_into_view_if_needed()
    return app


def test_the_slow_line_and_the_float64_op_are_named(cost: NotebookPage) -> None:
    assert cost.errors() == []
    # 63 rows of the mask, in 4 blocks, in 3 steps.
    (line,) = [
        line for line in cost.output_text(_LINES).splitlines() if "mask[row, row + 1 :]" in line
    ]
    assert "756" in line
    assert "subtract" in cost.output_text(_FLOAT64)
    time = _app(cost, _SLOW).get_by_role("region", name="Time")
    expect(time).to_contain_text("in all")
    cost.screenshot("cost-slow")


def test_kernels_stand_beside_host_time(cost: NotebookPage) -> None:
    app = _app(cost, _PROFILED)
    expect(app.get_by_role("columnheader", name="Kernel").first).to_be_visible()
    cost.screenshot("cost-profiled")


def test_the_values_grow_until_they_are_normalised(cost: NotebookPage) -> None:
    _app(cost, _DIVERGING)
    cost.screenshot("cost-diverging")
    grown, kept = (
        [float(text) for text in cost.output_text(cell).split("]")[0].strip(" [").split(",")]
        for cell in (_WORST, _STEADY)
    )
    assert len(grown) == len(kept) == 20
    assert grown[-1] > 100 > kept[-1]
