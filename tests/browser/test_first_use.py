"""What a page gets ready once a cell names Paddle Lab, while the kernel runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

BOKEH = "bokeh.esm.min.js"


def test_charts_are_loaded_for_a_cell_about_memory_and_for_no_other(
    lab_page: OpenNotebook,
) -> None:
    notebook = lab_page(notebook_of("# paddle_trace", "# paddle_mem"))
    asked: list[str] = []
    notebook.page.on("request", lambda request: asked.append(request.url))
    notebook.run_cell(0)
    assert not [url for url in asked if BOKEH in url]
    with notebook.page.expect_request(f"**/{BOKEH}"):
        notebook.run_cell(1)
