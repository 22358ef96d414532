"""The notebooks on gradients (in Notebook 7) and NaN (in JupyterLab), run as a reader would."""

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

_NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# Positions in the notebooks, from 0.
_CUT, _WHOLE, _FADING, _CURVE, _PILED, _CHECKS = 4, 9, 13, 14, 20, 23
_FORWARD, _HEALED, _BACKWARD, _MODIFIED, _LABELS, _CHINESE = 4, 8, 11, 14, 17, 19


def _run(server: JupyterServer, browser: Browser, screenshots: Path, name: str):
    test = f"{name}-{server.application}"
    for open_notebook in opened_notebooks(server, browser, screenshots, test):
        notebook = open_notebook(_NOTEBOOKS / f"{name}.ipynb")
        notebook.run_all()
        yield notebook


@pytest.fixture(scope="module")
def gradients(
    notebook7_server: JupyterServer, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    yield from _run(notebook7_server, browser, screenshots, "03_gradients")


@pytest.fixture(scope="module")
def nan_hunt(
    lab_server: JupyterServer, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    yield from _run(lab_server, browser, screenshots, "04_nan_hunt")


def _findings(notebook: NotebookPage, cell: int) -> Locator:
    view = GraphView(notebook.cell(cell))
    view.wait_until_drawn()
    view.app.scroll_into_view_if_needed()
    return view.app.get_by_role("region", name="Findings")


def test_the_cut_is_named_and_gone_when_mended(gradients: NotebookPage) -> None:
    assert gradients.errors() == []
    cut = _findings(gradients, _CUT)
    expect(cut).to_contain_text("features = paddle.to_tensor(features.numpy().clip(0, 6))")
    gradients.screenshot("gradients-cut")
    expect(_findings(gradients, _WHOLE)).to_have_count(0)


def test_the_gradient_fades_over_depth(gradients: NotebookPage) -> None:
    view = GraphView(gradients.cell(_FADING))
    view.wait_until_drawn()
    view.app.scroll_into_view_if_needed()
    expect(view.panel).to_contain_text("Gradients over depth")
    gradients.screenshot("gradients-fading")
    assert "Sigmoid" in gradients.output_text(_CURVE)


def test_the_step_without_clearing_and_the_list_of_checks(gradients: NotebookPage) -> None:
    expect(_findings(gradients, _PILED)).to_contain_text("sgd.step()")
    gradients.screenshot("gradients-piled")
    assert "gradient-not-cleared" in gradients.output_text(_CHECKS)


def test_the_nan_is_named_forward_and_backward(nan_hunt: NotebookPage) -> None:
    expect(_findings(nan_hunt, _FORWARD)).to_contain_text("log of 0 is -Inf")
    nan_hunt.screenshot("nan-forward")
    expect(_findings(nan_hunt, _HEALED)).to_have_count(0)
    expect(_findings(nan_hunt, _BACKWARD)).to_contain_text("Only the backward of")
    nan_hunt.screenshot("nan-backward")


def test_what_raises_is_explained_below_the_traceback(nan_hunt: NotebookPage) -> None:
    # The two cells that are meant to raise, and no other: "Run All" goes on after them.
    assert len(nan_hunt.errors()) == 2
    expect(_findings(nan_hunt, _MODIFIED)).to_contain_text("scale[0] = 1.0")
    nan_hunt.screenshot("nan-modified")
    expect(nan_hunt.cell(_LABELS)).to_contain_text("A label is out of range")
    nan_hunt.cell(_LABELS).get_by_text("A label is out of range").scroll_into_view_if_needed()
    nan_hunt.screenshot("nan-labels")
    assert "原地修改" in nan_hunt.output_text(_CHINESE)
