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
# How many colours of lines are on the canvas, except for what smoothing changes.
PAINTED_COLOURS = """(chart) => {
  const canvas = chart.querySelector(".pdl-live-chart canvas");
  if (!canvas || canvas.width * canvas.height === 0) return 0;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const strokes = [...chart.querySelectorAll("button[aria-pressed=true] svg path:last-child")].map(
    (line) => getComputedStyle(line).stroke,
  );
  const isPainted = (colour) => {
    const wanted = colour.match(/\\d+/g).map(Number);
    for (let at = 0; at < data.length; at += 4) {
      const isNear = wanted.every((part, of) => Math.abs(data[at + of] - part) < 24);
      if (isNear && data[at + 3] > 200) return true;
    }
    return false;
  };
  return [...new Set(strokes)].filter(isPainted).length;
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
    """Wait for the chart to live."""
    chart = notebook.page.locator(".pdl-live")
    expect(chart).to_have_attribute("data-state", "live")
    expect(chart).to_have_attribute("data-updates", re.compile(r"\d+"))
    return chart


def expect_painted(chart: Locator, least: int) -> None:
    """Wait until lines of so many colours are drawn; a frame draws them."""
    chart.page.wait_for_function(
        f"([chart, least]) => ({PAINTED_COLOURS})(chart) >= least",
        arg=[chart.element_handle(), least],
    )
