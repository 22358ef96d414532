"""The example notebook on comparing runs, in JupyterLab as a reader would run it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.notebook_page import NotebookPage

_COMPARE = Path(__file__).parents[2] / "notebooks" / "09_compare.ipynb"
# Positions in the notebook, from 0.
_AGAINST, _EDIT, _TOLERANCE, _MENDED = 6, 9, 15, 17


def test_the_edit_and_the_imprecise_op_are_found(
    lab_page: Callable[[Path], NotebookPage],
) -> None:
    notebook = lab_page(_COMPARE)
    notebook.run_all()
    assert notebook.errors() == []
    app = GraphView(notebook.cell(_AGAINST)).app
    app.scroll_into_view_if_needed()
    found = app.locator(".pdl-finding-text").first
    expect(found).to_contain_text("divide")
    expect(app.get_by_text("is the first difference")).to_have_count(1)
    expect(app.locator(".pdl-colour-legend")).to_contain_text("only in the other run")
    app.locator(".pdl-canvas canvas").first.focus()
    details = app.locator(".pdl-panel")
    notebook.page.keyboard.press("n")
    expect(details.get_by_role("heading", level=2)).to_contain_text("divide")
    expect(details).to_contain_text("− only in the other run")
    notebook.page.keyboard.press("n")
    expect(details.get_by_role("heading", level=2)).to_contain_text("softmax")
    expect(details).to_contain_text("Its values differ")
    expect(details.get_by_role("button", name="softmax · Cell 3, line 4")).to_have_count(1)
    notebook.screenshot("compare-edit")
    assert "now `scores = q @ k.transpose([0, 2, 1])`" in notebook.output_text(_EDIT)
    assert "subtract at variance" in notebook.output_text(_TOLERANCE)
    assert notebook.output_text(_MENDED).strip() == "None"
