"""The picture of a large cell replaces the sentence that said it was being prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SETUP = """%load_ext paddle_lab
import paddle
from paddle_lab.magics import waiting_note
waiting_note._MANY_OPS = 40
x = paddle.ones([3, 3])"""
# The kernel makes what the notebook stores once the file "picture_seen" is there.
HOLD_BACK = """import os, time, paddle_lab
stored = paddle_lab.Trace._stored
def wait_for_page(trace):
    while not os.path.exists("picture_seen"):
        time.sleep(0.05)
    return stored(trace)
paddle_lab.Trace._stored = wait_for_page"""
CELL = """%%paddle_trace
for number in range(60):
    y = paddle.tanh(x)"""


def test_the_picture_stands_where_the_sentence_stood(jupyter_page: OpenNotebook) -> None:
    page = jupyter_page(notebook_of(SETUP, CELL, HOLD_BACK))
    page.run_all()
    outputs = page.cell(1).locator(".jp-OutputArea-child")
    expect(page.cell(1).locator(".pdl-canvas")).to_be_visible()
    expect(outputs).to_have_count(1)
    assert "has ended" not in page.output_text(1)

    page.start_cell(1)
    expect(page.cell(1).locator(".jp-InputPrompt")).to_have_text("[*]:")
    expect(page.cell(1).locator(".pdl-canvas")).to_be_visible()
    page.save()
    (output,) = page.saved().cells[1].outputs
    assert "text/html" not in output["data"]

    (page.server.root / "picture_seen").touch()
    expect(page.cell(1).locator(".jp-InputPrompt")).not_to_have_text("[*]:")
    expect(page.cell(1).locator(".pdl-canvas")).to_have_count(1)
    expect(outputs).to_have_count(1)
    page.save()
    (output,) = page.saved().cells[1].outputs
    assert {"application/vnd.jupyter.widget-view+json", "text/html"} <= output["data"].keys()
    page.screenshot("waiting_note.png")
