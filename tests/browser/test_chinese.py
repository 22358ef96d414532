"""The views in Chinese contain no English."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import FOUR_FRAMES
from tests.browser.live.live_chart import chart_of
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

WORDS = Path(__file__).parents[2] / "paddle_lab/words/tables"
SETUP = """%load_ext paddle_lab
import paddle, paddle_lab
from paddle import nn
paddle_lab.language("zh")
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
x = paddle.rand([64, 8])"""
CHART = "%paddle_mem"
STEP = """%%paddle_mem --grads --check all
for step in range(3):
    loss = net(x).sum()
    loss.backward()
    paddle_lab.step()
held = net(x)"""
FAILS = "%%paddle_trace\nnet(paddle.rand([3, 5]))"

# Text that a person reads, without code and without texts of Paddle or the user.
SHOWN = """(root) => {
  const apart = "code, pre, script, style, option, .pdl-mono, .pdl-source, .pdl-code-line";
  const said = new Set();
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (!text.parentElement?.closest(apart)) said.add(text.textContent.trim());
  }
  for (const element of root.querySelectorAll("*")) {
    for (const name of ["title", "aria-label", "aria-valuetext", "placeholder"]) {
      if (!element.closest(apart)) said.add(element.getAttribute(name) ?? "");
    }
  }
  return [...said].filter(Boolean);
}"""
PHRASE = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
# These texts belong to the notebook, not to us.
OWN_WORDS = {"sum", "step", "linear", "relu", "held", "net", "loss"}


def labels() -> set[str]:
    """Return the English labels that differ from the Chinese ones."""
    tables = [json.loads((WORDS / f"{room}.json").read_text()) for room in ("page", "live")]
    texts = [texts for table in tables for texts in table.values()]
    return {each["en"] for each in texts if each["en"] != each["zh"]} - OWN_WORDS


def english_in(root: Locator) -> list[str]:
    """Return the texts that are in English."""
    known = labels()
    shown: list[str] = root.evaluate(SHOWN)
    assert shown
    return [text for text in shown if PHRASE.search(text) or text in known]


def test_no_english_is_left_in_a_chinese_notebook(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, CHART, STEP, FAILS))
    notebook.page.set_viewport_size({"width": 1440, "height": 1000})
    for index in range(4):
        notebook.run_cell(index)
    chart = chart_of(notebook)
    expect(chart.get_by_role("button", name="停止")).to_be_visible()
    assert english_in(chart) == []
    notebook.cell(1)
    notebook.screenshot("chinese_chart")

    cell = notebook.cell(2)
    app = cell.locator(".pdl-app").first
    expect(app.locator(".pdl-timeline[data-drawn]")).to_be_visible()
    assert english_in(app) == []
    notebook.screenshot("chinese_memory")
    for page in ("按地址", "仍存活"):
        app.get_by_role("button", name=page).click()
        assert english_in(app) == []
    for mode in ("前向", "反向", "对照"):
        button = app.locator("[data-mode]", has_text=mode)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        app.evaluate(FOUR_FRAMES)
        app.locator("[role=treeitem]").last.click(force=True)
        assert english_in(app) == []
        notebook.screenshot(f"chinese_{button.get_attribute('data-mode')}")
    for menu in ("视图", "导出"):
        app.get_by_role("button", name=menu, exact=True).click()
        assert english_in(app) == []
        notebook.page.keyboard.press("Escape")
    app.get_by_role("button", name="帮助").click()
    assert english_in(app) == []
    notebook.page.keyboard.press("Escape")
    below = cell.locator(".jp-OutputArea-output").filter(has_text="运行前")
    assert english_in(below.first) == []

    failed = notebook.cell(3)
    assert english_in(failed.locator(".pdl-app").first) == []
    expect(failed.get_by_text("维度不匹配").first).to_be_visible()
    notebook.screenshot("chinese_error")
