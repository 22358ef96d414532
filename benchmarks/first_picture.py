"""The time from the end of a traced cell to a graph that answers a click, in JupyterLab.

``python benchmarks/first_picture.py [--kernels N] [--runs N] [--quick] [SUBJECT ...]`` prints
Markdown tables of medians. It needs Chromium and the packages of the tests. Each subject runs in
new kernels and pages (*first*, with everything that is loaded once), and then several times in the
same ones (*again*). Kernel and page read the same clock. Nothing is asserted and the product is
not changed: a cell times the kernel's functions, and the page is timed by its messages and its
document.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This file is run by its path: add the repository, which has the fixtures, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.figures import Figures, options
from benchmarks.page_driver import chromium
from benchmarks.picture_figures import MOMENTS, Measured, Runs, figures_of, print_tables
from benchmarks.traced_cells import SUBJECTS, Subject
from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import NotebookPage, notebook_of
from tests.browser.server_process import JupyterServer, jupyter_server

MARKS = Path(__file__).with_name("picture_marks.js")

SETUP = '''
import importlib, time, warnings
warnings.simplefilter("ignore")
import paddle
from paddle import nn

spans = {}

def timed(module, path, name):
    """Have a function of the product note how long it takes."""
    owner = importlib.import_module(module)
    *owners, last = path.split(".")
    for part in owners:
        owner = getattr(owner, part)
    function = getattr(owner, last)
    def run(*args, **kwargs):
        begin = time.time()
        try:
            return function(*args, **kwargs)
        finally:
            spans[name] = (begin * 1e3, time.time() * 1e3)
    setattr(owner, last, run)
'''
# Set after the extension is loaded. Imports after that are part of the measured time.
TIMERS = """
%load_ext paddle_lab
timed("paddle_lab.recording", "Recording.__exit__", "close")
timed("paddle_lab.api", "Trace.payload", "payload")
timed("paddle_lab.api", "Trace.fallback_html", "fallback")
timed("paddle_lab.magics.waiting_note", "WaitingNote.give_way", "display")
"""

# Positions of boxes on screen, ops before groups, and whether each is an op.
PLACES = """(app) => {
  const canvas = app.querySelector(".pdl-canvas > canvas");
  const [x, y, scale] = canvas.dataset.camera.split(" ").map(Number);
  const box = canvas.getBoundingClientRect();
  const shown = (selector) => [...app.querySelectorAll(selector)].map((row) => {
    const [cx, cy] = row.dataset.centre.split(" ").map(Number);
    return [box.x + x + cx * scale, box.y + y + cy * scale, "op" in row.dataset];
  }).filter(([px, py]) => px > box.x + 20 && px < box.right - 20
    && py > box.y + 20 && py < Math.min(box.bottom, innerHeight) - 20);
  return [...shown("[data-op][data-centre]"), ...shown("[data-group][data-centre]")];
}"""

READ = "import json; print(json.dumps(spans | {'end': end_s * 1e3, 'ops': len(_trace.ops)}))"


def measure(page: NotebookPage, runs: Runs) -> None:
    """Run the traced cell once; note the times until the picture, a click's answer, "open all"."""
    browser_page = page.page
    page.command("notebook:clear-all-cell-outputs")
    browser_page.locator(".pdl-app").wait_for(state="detached")
    page.cell(1)
    browser_page.evaluate("pdlMarks.reset()")
    page.run_cell(1)
    view = GraphView(page.cell(1))
    wait_for_mark(browser_page, "picture")
    shows_memory = page.cell(1).locator(".pdl-memory[data-state=ready]").count() > 0
    if not shows_memory:
        view.wait_until_drawn()
    page_ms = browser_page.evaluate("pdlMarks.read()")
    runs.message_bytes = browser_page.evaluate("pdlMarks.bytes()")
    if not shows_memory:
        click(browser_page, view, runs)
        open_all(browser_page, view, runs)
    page.run_cell(2)
    kernel_ms = json.loads(page.output_text(2))
    runs.ops = kernel_ms.pop("ops")
    add_parts(runs, kernel_ms, page_ms)


def add_parts(runs: Runs, kernel_ms: dict[str, Any], page_ms: dict[str, float]) -> None:
    end_ms = kernel_ms.pop("end")
    for name, (begin, end) in kernel_ms.items():
        if name != "display":
            runs.times_ms[name].append(end - begin)
    for mark, name in MOMENTS.items():
        if mark in page_ms:  # a timeline has no layout
            runs.times_ms[name].append(page_ms[mark] - end_ms)
    runs.times_ms["picture"].append(page_ms["picture"] - end_ms)
    runs.times_ms["reply"].append(page_ms["reply"] - end_ms)
    if runs.times_ms["click"]:
        answer_ms = runs.times_ms["click"][-1]
        runs.times_ms["answer"].append(page_ms["picture"] - end_ms + answer_ms)


def click(page: Page, view: GraphView, runs: Runs) -> None:
    """Click a box in the picture: an op, or a group if no op is shown."""
    x, y, runs.is_op_clicked = view.app.evaluate(PLACES)[0]
    page.evaluate("pdlMarks.reset()")
    page.mouse.click(x, y)
    wait_for_mark(page, "shown")
    marks = page.evaluate("pdlMarks.read()")
    runs.times_ms["click"].append(marks["shown"] - marks["pressed"])


def open_all(page: Page, view: GraphView, runs: Runs) -> None:
    button = view.app.get_by_role("button", name="Open all")
    if not button.is_enabled():
        return  # a graph without groups, or a small one
    page.evaluate("pdlMarks.reset()")
    button.click()
    wait_for_mark(page, "picture")
    marks = page.evaluate("pdlMarks.read()")
    runs.times_ms["open all"].append(marks["picture"] - marks["pressed"])


def wait_for_mark(page: Page, name: str) -> None:
    page.wait_for_function("(name) => pdlMarks.read()[name]", arg=name, polling=50, timeout=120_000)


def measure_subject(
    subject: Subject, server: JupyterServer, browser: Browser, kernels: int, runs: int
) -> Measured:
    """Measure a subject in new kernels and pages, several times in each."""
    measured = Measured(subject)
    for kernel in range(kernels):
        context = browser.new_context(viewport={"width": 1700, "height": 1000})
        context.set_default_timeout(60_000)
        context.add_init_script(path=MARKS)
        notebook = notebook_of(
            SETUP + subject.prepare + TIMERS,
            f"{subject.magic}\n{subject.cell}\nend_s = time.time()\n{subject.show}",
            READ,
        )
        file = f"{subject.title.split(',')[0].replace(' ', '_')}_{kernel}.ipynb"
        nbformat.write(notebook, server.root / file)
        page = NotebookPage(context.new_page(), server, file, server.root)
        page.page.on("pageerror", lambda error: measured.faults.append(str(error)))
        page.open()
        page.run_cell(0)
        for run in range(runs):
            measure(page, measured.again if run else measured.first)
            measured.faults += page.errors()
            measured.faults += page.page.locator(".pdl-error").all_inner_texts()
            if run == 0:  # the notebook has one widget, and the widget's state is complete
                measured.notebook_bytes = notebook_bytes(page)
        context.close()
        server.end_kernels()
        server.forget_settings()
    return measured


def notebook_bytes(page: NotebookPage) -> tuple[int, int]:
    """Return the bytes of the notebook saved without and with the widgets' state."""
    sizes = []
    for _ in range(2):
        page.save()
        sizes.append((page.server.root / page.path).stat().st_size)
        page.save_widget_state()
    return sizes[0], sizes[1]


def load_average() -> str:
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--kernels", type=int, default=3, help="fresh kernels a subject")
    parser.add_argument("--runs", type=int, default=3, help="runs in each kernel")
    given = parser.parse_args()
    if given.quick:
        given.kernels, given.runs = 1, 2
        given.subjects = given.subjects or ["gpt-96"]
    unknown = set(given.subjects) - SUBJECTS.keys()
    if unknown:
        parser.error(f"no such subject: {', '.join(sorted(unknown))}")
    # Users' Python stores the bytecode of imported modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    packages = ("paddlepaddle", "jupyterlab", "anywidget", "ipykernel")
    with (
        tempfile.TemporaryDirectory() as folder,
        jupyter_server("lab", Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        versions = [f"{name} {version(name)}" for name in packages]
        print(f"Python {sys.version.split()[0]}, {', '.join(versions)}, Chromium {browser.version}")
        print(f"{os.cpu_count()} cores, load average {load_average()} before; ", end="", flush=True)
        figures, measured = Figures(given.json), []
        for name in given.subjects or SUBJECTS:
            one = measure_subject(SUBJECTS[name], server, browser, given.kernels, given.runs)
            measured.append(one)
            for figure in figures_of(one):
                figures.add(figure)
        print(f"{load_average()} after; {given.kernels} kernels, {given.runs} runs in each")
        print_tables(measured)
        browser.close()


if __name__ == "__main__":
    main()
