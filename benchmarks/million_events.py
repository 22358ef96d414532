"""How long a saved page with a million allocator events takes to open and to answer.

``python benchmarks/million_events.py`` prints a Markdown table. The blocks are made up: those of a
small real trace, repeated with random sizes, starts and lifetimes. Needs Paddle, the browser tests'
packages and Chromium (``CHROMIUM`` names another than the one on the path).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import paddle
from playwright.sync_api import Page, sync_playwright

import paddle_lab
from paddle_lab.api import Trace
from paddle_lab.trace.table import Table

BLOCKS = 500_000  # each is allocated and freed
DURATION_NS = 20_000_000_000

STEP_MOMENT = """async () => {
  const moment = document.querySelector("[role=slider]");
  moment.focus();
  const times = [];
  for (let i = 0; i < 15; i++) {
    const start = performance.now();
    moment.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[7];
}"""


def million_events() -> Trace:
    """Return a trace of a small net whose blocks are many more than it allocated."""
    net = paddle.nn.Sequential(*[paddle.nn.Linear(32, 32) for _ in range(20)])
    with paddle_lab.memory() as small:
        net(paddle.rand([4, 32])).mean().backward()
    record = small.record
    random = np.random.default_rng(0)
    blocks = record.tables["allocations"]
    rows = random.integers(0, len(blocks), BLOCKS)
    columns = {name: np.asarray(column)[rows] for name, column in blocks.columns.items()}
    start = np.sort(random.integers(0, DURATION_NS, BLOCKS))
    end = start + (random.pareto(1.2, BLOCKS) * 2e6).astype(np.int64) + 1000
    columns["start_ns"] = start
    columns["end_ns"] = np.where(end > DURATION_NS, -1, end)
    columns["bytes"] = (2 ** random.uniform(8, 22, BLOCKS)).astype(np.int64)
    columns["address"] = random.integers(0, 1 << 30, BLOCKS) * 256
    record.tables["allocations"] = Table(columns)
    record.origin.duration_ns = DURATION_NS
    return Trace(record)


def opened(page: Page, path: Path) -> tuple[float, float, float]:
    """Return seconds to the graph, from there to the timeline, and ms of a step of its moment."""
    begin = perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("#pdl-root[data-state=ready]")
    graph_s = perf_counter() - begin
    page.locator(".pdl-canvas").first.click(position={"x": 5, "y": 5})
    begin = perf_counter()
    page.keyboard.press("4")
    page.wait_for_selector("[role=slider]")
    page.wait_for_selector("[class*=bk]")
    timeline_s = perf_counter() - begin
    page.wait_for_timeout(1000)
    return graph_s, timeline_s, page.evaluate(STEP_MOMENT)


def main() -> None:
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = million_events().to_html(Path(folder) / "page.html")
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        print("| run | to the graph, s | to the timeline, s | both, s | a step of the moment, ms |")
        print("|---|---:|---:|---:|---:|")
        for run in range(1, 4):
            page = browser.new_page(viewport={"width": 1400, "height": 800})
            graph_s, timeline_s, step_ms = opened(page, path)
            both_s = graph_s + timeline_s
            print(f"| {run} | {graph_s:.2f} | {timeline_s:.2f} | {both_s:.2f} | {step_ms:.0f} |")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
