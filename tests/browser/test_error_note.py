"""Advice on an error of Paddle's below its traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SETUP = "%load_ext paddle_lab\nimport paddle, paddle_lab\npaddle_lab.language('en')"
FAILS = "%%paddle_trace\npaddle.nn.Linear(4, 2)(paddle.ones([3, 2]))"


def test_the_advice_stands_below_the_traceback(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, FAILS))
    notebook.run_all()
    outputs = notebook.cell(1).locator(".jp-OutputArea-child")
    note = outputs.filter(has_text="the layer was made for 4")
    expect(note).to_have_count(1)
    texts = outputs.all_inner_texts()
    traceback = next(i for i, text in enumerate(texts) if "Traceback" in text)
    advice = next(i for i, text in enumerate(texts) if "the layer was made for 4" in text)
    assert traceback < advice
    expect(note.locator("code").first).to_have_text("Linear")
    expect(note.get_by_role("link")).to_have_attribute("target", "_blank")
    box = note.locator("div[style*='border-left']")
    assert box.evaluate("element => getComputedStyle(element).borderLeftWidth") == "4px"
    note.scroll_into_view_if_needed()
    notebook.screenshot("error_note")
