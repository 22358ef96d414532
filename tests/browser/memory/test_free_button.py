"""The button that frees memory held only by the notebook, and the text that replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

LOAD = "import paddle\n%load_ext paddle_lab"
KEPT = "paddle.ones([256, 256])"


def test_without_its_kernel_it_is_a_sentence(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(LOAD, KEPT, "%paddle_mem report"))
    for cell in range(3):
        notebook.run_cell(cell)
    button = notebook.cell(2).get_by_role("button", name="Free what only the notebook holds")
    expect(button).to_be_visible()
    notebook.save()
    notebook.leave()
    for kernel in (False, True):
        again = notebook.reopened(kernel=kernel)
        expect(again.cell(2)).to_contain_text("%paddle_mem free releases what only the notebook")
        expect(again.page.get_by_text("Loading widget")).to_have_count(0)
        expect(again.page.get_by_text("model not found")).to_have_count(0)
        again.page.close()
