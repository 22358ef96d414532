"""The value of an op's output, which the kernel computes again on a click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SETUP = "%load_ext paddle_lab\nimport paddle, paddle_lab\npaddle_lab.language('en')\npaddle.seed(3)"
TRACED = """%%paddle_trace --replay -o kept
net = paddle.nn.Conv2D(1, 4, 3)
out = paddle.nn.functional.relu(net(paddle.randn([2, 1, 10, 10])))
out = None"""
WITHOUT = "%%paddle_trace\n_ = paddle.arange(6) * 2"


def test_a_value_is_computed_on_a_click(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, TRACED, WITHOUT))
    notebook.run_all()
    view = GraphView(notebook.cell(1))
    view.wait_until_drawn()
    view.click(view.op("relu"))
    view.panel.get_by_role("button", name="Value").click()
    heat = view.panel.locator(".pdl-heat td")
    expect(heat).to_have_count(64)
    expect(view.panel).to_contain_text("unverified")
    expect(view.panel.locator("code").filter(has_text="[0, 0, :, :]")).to_be_visible()
    first = heat.all_inner_texts()
    picker = view.panel.get_by_label("Slice")
    picker.fill("7")
    expect(view.panel.locator("code").filter(has_text="[1, 3, :, :]")).to_be_visible()
    assert heat.all_inner_texts() != first
    heat.first.scroll_into_view_if_needed()
    notebook.screenshot("computed_value")
    # A trace without --replay says how to get one.
    other = GraphView(notebook.cell(2))
    other.wait_until_drawn()
    other.click(other.op("multiply"))
    other.panel.get_by_role("button", name="Value").click()
    expect(other.panel).to_contain_text(re.compile("holds nothing.*--replay"))
