"""The live chart moves while Paddle keeps the kernel busy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.browser.live.live_chart import CHART_ON, MODEL, chart_of
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook
    from tests.browser.notebook_page import NotebookPage

pytestmark = pytest.mark.alone

TEN_SECONDS = """begin = time.time()
while time.time() - begin < 10:
    network(images).mean().backward()
    network.clear_gradients()"""
WATCH_UPDATES = """() => {
  window.updateTimes = [];
  new MutationObserver(() => window.updateTimes.push(performance.now())).observe(
    document.querySelector(".pdl-live"),
    { attributes: true, attributeFilter: ["data-updates"] },
  );
}"""


def updates_during(notebook: NotebookPage, index: int) -> tuple[float, float]:
    """Run a cell; updates a second and the longest time between two, in ms, on the page's clock."""
    page = notebook.page
    page.evaluate(WATCH_UPDATES)
    begin, end = page.evaluate(
        """async (index) => {
          const notebook = window.jupyterapp.shell.currentWidget.content;
          notebook.activeCellIndex = index;
          const begin = performance.now();
          await window.jupyterapp.commands.execute("notebook:run-cell");
          return [begin, performance.now()];
        }""",
        index,
    )
    times: list[float] = page.evaluate("window.updateTimes")
    within = [time for time in times if begin <= time <= end]
    gaps: list[float] = [after - before for before, after in pairwise(within)]
    assert end - begin > 10_000
    return len(within) / ((end - begin) / 1000), max(gaps, default=end - begin)


def test_it_moves_while_paddle_runs(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, MODEL, TEN_SECONDS))
    notebook.run_cell(0)
    chart_of(notebook)
    notebook.run_cell(1)
    notebook.cell(0)

    attempts = []
    for _ in range(3):
        # The kernel and the page are idle, so this is the load of other programs.
        others_percent = psutil.cpu_percent(interval=2)
        updates_per_s, longest_ms = updates_during(notebook, 2)
        if updates_per_s >= 8 and longest_ms <= 250:
            return
        # If other programs use most of the machine, the chart only has to move at all.
        if others_percent > 60 and updates_per_s >= 1:
            return
        attempts.append(
            f"{updates_per_s:.1f} updates a second, at most {longest_ms:.0f} ms apart, while other "
            f"programs took {others_percent:.0f} % of the processors"
        )
    pytest.fail("\n".join(attempts))
