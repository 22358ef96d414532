"""The live chart in a notebook: cells that show it, and functions that wait for its drawing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.notebook_page import NotebookPage

CHART_ON = """%load_ext paddle_lab
%paddle_mem"""
MODEL = """import time, paddle, paddle_lab
network = paddle.vision.models.resnet18()
images = paddle.rand([2, 3, 96, 96])
network(images).mean().backward()"""
# Bokeh draws inside shadow roots.
PAINTED_CANVASES = """(chart) => {
  const canvases = [];
  const pending = [chart];
  while (pending.length > 0) {
    const node = pending.pop();
    if (node instanceof HTMLCanvasElement) canvases.push(node);
    pending.push(...node.children, ...(node.shadowRoot?.children ?? []));
  }
  return canvases.filter((canvas) => {
    if (canvas.width * canvas.height === 0) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 0) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    }
    return colours.size > 8;
  }).length;
}"""


def start_cell(notebook: NotebookPage, index: int) -> None:
    """Run a cell and do not wait for it."""
    notebook.page.evaluate(
        """(index) => {
          window.jupyterapp.shell.currentWidget.content.activeCellIndex = index;
          void window.jupyterapp.commands.execute("notebook:run-cell");
        }""",
        index,
    )


def chart_of(notebook: NotebookPage) -> Locator:
    """Wait until the chart is live."""
    chart = notebook.page.locator(".pdl-live")
    expect(chart).to_have_attribute("data-state", "live")
    expect(chart).to_have_attribute("data-updates", re.compile(r"\d+"))
    return chart


def expect_painted(chart: Locator, least: int) -> None:
    """Wait until so many of the chart's canvases show more than a ground; it is drawn by frames."""
    chart.page.wait_for_function(
        f"([chart, least]) => ({PAINTED_CANVASES})(chart) >= least",
        arg=[chart.locator(".pdl-live-chart").element_handle(), least],
    )
