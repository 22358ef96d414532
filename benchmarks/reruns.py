"""How much memory a cell that runs repeatedly leaves in its kernel and in its page.

``python benchmarks/reruns.py [--runs 9] [--steps 150] [--quick] [SUBJECT ...]`` prints a Markdown
table. Each subject runs in a new kernel whose page is open in JupyterLab; the magics also run in a
kernel without a page. After each run, the kernel (in another cell) and the page collect garbage.
A figure is the difference between the last and the second run: the first one warms up.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# This file is run by its path: add the repository, which has the fixtures, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat
from jupyter_client.manager import start_new_kernel
from playwright.sync_api import Browser, sync_playwright

from benchmarks.figures import Figure, Figures, options
from benchmarks.page_driver import chromium
from tests.browser.notebook_page import NotebookPage, notebook_of
from tests.browser.server_process import JupyterServer, jupyter_server

BAR_MB = 10.0
SETTLE_MS = 2000
LIMIT_S = 300

SETUP = """import gc, warnings
warnings.simplefilter("ignore")
import paddle, paddle_lab, psutil
from IPython.display import clear_output, display
from paddle import nn
%load_ext paddle_lab

net = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(16, 16), nn.ReLU())])
optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
data = paddle.randn([4, 16])

def train(steps):
    for _ in range(steps):
        net(data).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
"""
READ = "for _ in range(3): gc.collect()\nprint(psutil.Process().memory_info().rss)"


def subjects(steps: int) -> dict[str, str]:
    """Return the cells by their names in the figures."""
    return {
        "%%paddle_trace": f"%%paddle_trace\ntrain({steps})",
        "%%paddle_mem": f"%%paddle_mem\ntrain({steps})",
        "%paddle_mem": f"%paddle_mem\ntrain({steps})\n%paddle_mem off",
        "with": f"with paddle_lab.trace() as kept:\n    train({steps})\ndisplay(kept)",
        "with in a loop": f"""for _ in range(3):
    with paddle_lab.trace() as kept:
        train({max(1, steps // 3)})
    clear_output()
    display(kept)""",
    }


@dataclass(frozen=True)
class Sizes:
    """Memory after one run."""

    kernel_mb: float
    page_mb: float | None = None


def in_page(cell: str, runs: int, server: JupyterServer, browser: Browser) -> Iterator[Sizes]:
    """Yield the sizes after each run of a cell whose notebook is open in JupyterLab."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(120_000)
    nbformat.write(notebook_of(SETUP, cell, READ), server.root / "rerun.ipynb")
    notebook = NotebookPage(context.new_page(), server, "rerun.ipynb", None)
    notebook.open()
    notebook.run_cell(0)
    session = context.new_cdp_session(notebook.page)
    for _ in range(runs):
        notebook.run_cell(1)
        notebook.page.wait_for_timeout(SETTLE_MS)
        if notebook.cell(1).locator(".pdl-canvas").count():
            drawn = notebook.cell(1).locator("canvas[data-in-view], .pdl-timeline[data-drawn]")
            drawn.locator("visible=true").first.wait_for()
        notebook.run_cell(2)
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
        heap = session.send("Runtime.getHeapUsage")
        # The memory of scripts, and of the buffers that they draw from.
        page_bytes = heap["usedSize"] + heap.get("backingStorageSize", 0)
        yield Sizes(int(notebook.output_text(2)) / 1e6, page_bytes / 1e6)
    context.close()
    server.end_kernels()


def without_page(cell: str, runs: int) -> Iterator[Sizes]:
    """Yield the sizes after each run of a cell in a kernel without a page."""
    manager, client = start_new_kernel()
    printed = ""

    def take(message: Any) -> None:
        nonlocal printed
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            printed = message["content"]["text"]

    try:
        client.execute_interactive(SETUP, output_hook=take, timeout=LIMIT_S)
        for _ in range(runs):
            client.execute_interactive(cell, output_hook=take, timeout=LIMIT_S)
            client.execute_interactive(READ, output_hook=take, timeout=LIMIT_S)
            yield Sizes(int(printed) / 1e6)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def report(figures: Figures, subject: str, where: str, sizes: list[Sizes]) -> None:
    """Add the rows of one subject: the difference between the last and the second run."""
    kernel = [one.kernel_mb for one in sizes]
    page = [one.page_mb for one in sizes if one.page_mb is not None]
    for what, run_mb in (("kernel", kernel), ("page's heap", page)):
        if run_mb:
            note = f"runs: {', '.join(f'{mb:.0f}' for mb in run_mb)} MB"
            grown_mb = run_mb[-1] - run_mb[1]
            name = f"{what}, {where}, run {len(run_mb)} over run 2"
            figures.add(Figure(subject, name, value=grown_mb, unit="MB", bar=BAR_MB, note=note))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(subjects(0)))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=150, help="training steps a run, 34 ops each")
    given = parser.parse_args()
    if given.quick:
        given.runs, given.steps = 3, 20
    cells = subjects(given.steps)
    figures = Figures(given.json)
    with (
        tempfile.TemporaryDirectory() as folder,
        jupyter_server("lab", Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        for name in given.subjects or cells:
            shown = list(in_page(cells[name], given.runs, server, browser))
            report(figures, name, "page open", shown)
            if "paddle_" in name:
                report(figures, name, "no page", list(without_page(cells[name], given.runs)))
        browser.close()
    figures.print_table()


if __name__ == "__main__":
    main()
