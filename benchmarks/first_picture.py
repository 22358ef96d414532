"""From the end of a traced cell to a graph that answers a click, in JupyterLab in Chromium.

``python benchmarks/first_picture.py [--kernels N] [--runs N] [SUBJECT ...]`` prints Markdown
tables of medians. It needs what the tests need, and Chromium. Each subject runs in fresh kernels
and pages (*first*, with all that is loaded once), and then again in the same ones (*again*). Kernel
and page read the same clock. Nothing is asserted, and the product is as it is: the kernel's
functions are timed from a cell, the page by what it does (messages, its worker, the document).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

# This file is run by its path; the fixtures' modules are in the repository it lies in.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

from paddle_lab.views.static_files import static_file
from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import NotebookPage, notebook_of
from tests.browser.server_process import JupyterServer, jupyter_server

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
# After the extension is loaded: what it imports later is still imported later, and counts.
TIMERS = """
%load_ext paddle_lab
timed("paddle_lab.recording", "Recording.__exit__", "close")
timed("paddle_lab.api", "Trace.payload", "payload")
timed("paddle_lab.api", "Trace.fallback_html", "fallback")
timed("paddle_lab.magics.traced_cell", "display", "display")
"""

STRAIGHT = """
def straight(count):
    lines = ["x = paddle.tanh(x)", "x = x + 1.0"]
    body = "".join(f"    {{lines[i % 2]}}\\n" for i in range(count))
    with open(f"straight_{{count}}.py", "w") as file:
        file.write(f"import paddle\\n\\ndef chain(x):\\n{{body}}    return x\\n")
    return importlib.import_module(f"straight_{{count}}").chain

chain = straight({count})
x = paddle.rand([4])
"""
ENCODER = """
network = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64), {layers})
optimizer = paddle.optimizer.AdamW(parameters=network.parameters())
x = paddle.rand([2, 8, 32])
network(x).mean().backward()
optimizer.step()
optimizer.clear_grad()
"""
GPT = """
class Block(nn.Layer):
    def __init__(self, width, heads, mask):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads, self.mask = heads, mask

    def forward(self, x):
        batch, time, width = x.shape
        shape = [batch, time, 3, self.heads, width // self.heads]
        q, k, v = self.qkv(self.norm1(x)).reshape(shape).transpose([2, 0, 3, 1, 4]).unbind(0)
        scores = (q @ k.transpose([0, 1, 3, 2])) * ((width // self.heads) ** -0.5)
        weights = nn.functional.softmax(scores + self.mask, -1)
        y = (weights @ v).transpose([0, 2, 1, 3]).reshape([batch, time, width])
        x = x + self.projection(y)
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm2(x))))

class Stage(nn.Layer):
    def __init__(self, blocks, *options):
        super().__init__()
        self.blocks = nn.LayerList([Block(*options) for _ in range(blocks)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

class GPT(nn.Layer):
    def __init__(self, stages, blocks, width=8, heads=2, words=100, time=4):
        super().__init__()
        mask = paddle.triu(paddle.full([time, time], -1e4), 1)
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(time, width)
        self.stages = nn.LayerList([Stage(blocks, width, heads, mask) for _ in range(stages)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, ids):
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]))
        for stage in self.stages:
            x = stage(x)
        return self.head(self.norm(x))

network = GPT({stages}, {blocks})
ids = paddle.randint(0, 100, [1, 4])
network(ids).mean().backward()
network.clear_gradients()
"""
HUB = "hub = paddle.rand([4])"
STEP = "loss = network(x).mean()\nloss.backward()\noptimizer.step()\noptimizer.clear_grad()"
FORWARD_BACKWARD = "network(ids).mean().backward()"
CONSUMERS = "y = [hub.exp() for _ in range({count})]"
LOOP = "y = x\nfor _ in range({turns}):\n    y = paddle.tanh(y) + 1.0"


@dataclass(frozen=True)
class Subject:
    """A cell to trace, and what prepares it."""

    title: str
    prepare: str
    cell: str


def straight(count: int) -> Subject:
    """Return a chain of ops of which each has a line of its own."""
    return Subject(f"{count:,} straight lines", STRAIGHT.format(count=count), "y = chain(x)")


def loop(count: int) -> Subject:
    """Return a chain of ops in a loop."""
    return Subject(f"{count:,} in a loop", "x = paddle.rand([4])", LOOP.format(turns=count // 2))


SUBJECTS = {
    "encoder": Subject("TransformerEncoder, 24 layers, a step", ENCODER.format(layers=24), STEP),
    "gpt-96": Subject(
        "GPT, 96 blocks, forward and backward",
        GPT.format(stages=1, blocks=96),
        FORWARD_BACKWARD,
    ),
    "gpt-50000": Subject(
        "GPT, 9 × 96 blocks, forward and backward",
        GPT.format(stages=9, blocks=96),
        FORWARD_BACKWARD,
    ),
    "hub-10000": Subject("10,000 consumers of a tensor", HUB, CONSUMERS.format(count=10_000)),
    "straight-1000": straight(1_000),
    "loop-1000": loop(1_000),
    "straight-5000": straight(5_000),
    "loop-5000": loop(5_000),
    "straight-20000": straight(20_000),
    "loop-20000": loop(20_000),
    "straight-100000": straight(100_000),
    "loop-100000": loop(100_000),
}

BARS_S = {
    "gpt-50000": 0.8,
    "hub-10000": 1.0,
    "straight-5000": 0.3,
    "straight-20000": 0.8,
    "straight-100000": 3.0,
}
"""Cell end to first picture."""

# Notes what the page does, in ms since the epoch. Each mark is the first since `reset`.
OBSERVER = """(() => {
  const now = () => performance.timeOrigin + performance.now();
  const offset = Date.now() - now();
  const marks = {};
  let bytes = 0;
  let before;
  const mark = (name) => { marks[name] ??= now() + offset; };
  window.pdlMarks = {
    reset() { for (const name of Object.keys(marks)) delete marks[name]; bytes = 0; },
    read: () => ({ ...marks }),
    bytes: () => bytes,
  };
  const text = new TextDecoder();
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        const size = data.byteLength ?? data.length;
        const head = typeof data === "string" ? data : text.decode(new Uint8Array(data));
        if (head.includes('"execute_reply"')) mark("reply");
        if (head.includes('"comm_open"') && head.includes("_esm")) { mark("comm"); bytes = size; }
        if (head.includes('"display_data"')) mark("display");
      });
    }
  };
  const Thread = window.Worker;
  window.Worker = class extends Thread {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        if (data.kind === "done") mark("laid");
      });
    }
    postMessage(message, ...rest) {
      if (message?.kind === "layout") mark("asked");
      super.postMessage(message, ...rest);
    }
  };
  const painted = (name) => requestAnimationFrame(() => {
    // A message comes after the frame that this callback belongs to.
    const channel = new MessageChannel();
    channel.port1.onmessage = () => mark(name);
    channel.port2.postMessage(0);
  });
  new MutationObserver(() => {
    const apps = document.querySelectorAll(".pdl-app");
    const app = apps[apps.length - 1];
    if (!app) return;
    if (!marks.drawn && marks.laid && !app.querySelector(".pdl-canvas[aria-busy]")
        && app.querySelector("canvas[data-in-view]:not([data-in-view='0'])")) {
      mark("drawn");
      painted("picture");
    }
    if (marks.pressed && !marks.answered && app.querySelector('[aria-selected="true"]')
        && app.querySelector(".pdl-panel").textContent !== before) {
      mark("answered"); painted("shown");
    }
  }).observe(document, { subtree: true, childList: true, attributes: true });
  addEventListener("pointerdown", (event) => {
    marks.pressed ??= performance.timeOrigin + event.timeStamp + offset;
    before = document.querySelector(".pdl-panel")?.textContent;
  }, true);
})()"""

# Places of boxes on the screen, ops before groups, and whether they are ops.
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
SPANS = ("close", "payload", "fallback")
# What happens to the picture, by the observer's marks: the layout is made while the kernel is at
# work on what the notebook stores, and displays it.
MOMENTS = {
    "comm": "data in the page",
    "asked": "layout begins",
    "laid": "laid out",
    "display": "displayed",
    "drawn": "drawn",
}


@dataclass
class Figures:
    """What was measured of a subject in a way (first or again): milliseconds by name."""

    times_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ops: int = 0
    message_bytes: int = 0
    is_op_clicked: bool = False
    faults: list[str] = field(default_factory=list)

    def median(self, name: str) -> str:
        """Return the median of a time."""
        return f"{statistics.median(self.times_ms[name]):,.0f}" if self.times_ms[name] else "–"


def measure(page: NotebookPage, figures: Figures) -> None:
    """Run the traced cell once; note the times to its picture, to a click's answer, to all open."""
    browser_page = page.page
    page.command("notebook:clear-all-cell-outputs")
    browser_page.locator(".pdl-app").wait_for(state="detached")
    page.cell(1)
    browser_page.evaluate("pdlMarks.reset()")
    page.run_cell(1)
    view = GraphView(page.cell(1))
    wait_for_mark(browser_page, "picture")
    view.wait_until_drawn()
    page_ms = browser_page.evaluate("pdlMarks.read()")
    figures.message_bytes = browser_page.evaluate("pdlMarks.bytes()")
    click(browser_page, view, figures)
    open_all(browser_page, view, figures)
    page.run_cell(2)
    kernel_ms = json.loads(page.output_text(2))
    figures.ops = kernel_ms.pop("ops")
    add_parts(figures, kernel_ms, page_ms)


def add_parts(figures: Figures, kernel_ms: dict[str, Any], page_ms: dict[str, float]) -> None:
    end_ms = kernel_ms.pop("end")
    for name, (begin, end) in kernel_ms.items():
        if name != "display":
            figures.times_ms[name].append(end - begin)
    for mark, name in MOMENTS.items():
        figures.times_ms[name].append(page_ms[mark] - end_ms)
    figures.times_ms["picture"].append(page_ms["picture"] - end_ms)
    figures.times_ms["reply"].append(page_ms["reply"] - end_ms)
    answer_ms = figures.times_ms["click"][-1]
    figures.times_ms["answer"].append(page_ms["picture"] - end_ms + answer_ms)


def click(page: Page, view: GraphView, figures: Figures) -> None:
    """Click a box in the picture: an op, or a group where none is shown."""
    x, y, figures.is_op_clicked = view.app.evaluate(PLACES)[0]
    page.evaluate("pdlMarks.reset()")
    page.mouse.click(x, y)
    wait_for_mark(page, "shown")
    marks = page.evaluate("pdlMarks.read()")
    figures.times_ms["click"].append(marks["shown"] - marks["pressed"])


def open_all(page: Page, view: GraphView, figures: Figures) -> None:
    page.evaluate("pdlMarks.reset()")
    view.app.get_by_role("button", name="Open all").click()
    wait_for_mark(page, "picture")
    marks = page.evaluate("pdlMarks.read()")
    figures.times_ms["open all"].append(marks["picture"] - marks["pressed"])
    figures.faults += view.app.locator(".pdl-error").all_inner_texts()


def wait_for_mark(page: Page, name: str) -> None:
    page.wait_for_function("(name) => pdlMarks.read()[name]", arg=name, polling=50, timeout=120_000)


def measure_subject(
    subject: Subject, server: JupyterServer, browser: Browser, kernels: int, runs: int
) -> tuple[Figures, Figures, tuple[int, int]]:
    """Return figures of first and other runs, and the notebook's bytes without and with state."""
    first, again, sizes = Figures(), Figures(), (0, 0)
    for kernel in range(kernels):
        context = browser.new_context(viewport={"width": 1700, "height": 1000})
        context.set_default_timeout(60_000)
        context.add_init_script(OBSERVER)
        notebook = notebook_of(
            SETUP + subject.prepare + TIMERS,
            f"%%paddle_trace\n{subject.cell}\nend_s = time.time()",
            READ,
        )
        file = f"{subject.title.split(',')[0].replace(' ', '_')}_{kernel}.ipynb"
        nbformat.write(notebook, server.root / file)
        page = NotebookPage(context.new_page(), server, file, server.root)
        page.page.on("pageerror", lambda error: first.faults.append(str(error)))
        page.open()
        page.run_cell(0)
        for run in range(runs):
            measure(page, again if run else first)
            first.faults += page.errors()
            if run == 0:  # one widget; its state holds all that the kernel has made
                sizes = notebook_bytes(page)
        context.close()
        server.end_kernels()
        server.forget_settings()
    return first, again, sizes


def notebook_bytes(page: NotebookPage) -> tuple[int, int]:
    """Save the notebook without and with the widgets' state; return the file's bytes."""
    sizes = []
    for _ in range(2):
        page.save()
        sizes.append((page.server.root / page.path).stat().st_size)
        page.save_widget_state()
    return sizes[0], sizes[1]


def print_tables(measured: dict[str, tuple[Figures, Figures, tuple[int, int]]]) -> None:
    rows = [
        (f"{SUBJECTS[name].title} | {way}", figures, sizes)
        for name, (first, again, sizes) in measured.items()
        for way, figures in (("first", first), ("again", again))
        if figures.ops
    ]
    print("\nms from the end of the cell, medians:\n")
    print("| cell | run | ops | reply | picture | click on | click | picture + click | open all |")
    print("|---|---|---|---|---|---|---|---|---|")
    for title, figures, _ in rows:
        names = ("click", "answer", "open all")
        clicked = "op" if figures.is_op_clicked else "group"
        print(
            f"| {title} | {figures.ops:,} | {figures.median('reply')} "
            f"| {figures.median('picture')} | {clicked} "
            f"| {' | '.join(map(figures.median, names))} |"
        )
    names = (*SPANS, *MOMENTS.values())
    print("\nms in the kernel for three of its parts; then ms from the end of the cell:\n")
    print(f"| cell | run | {' | '.join(names)} |")
    print(f"|---|---|{'---|' * len(names)}")
    for title, figures, _ in rows:
        print(f"| {title} | {' | '.join(map(figures.median, names))} |")
    print(f"\nwidget.js: {static_file('widget.js').stat().st_size:,} bytes\n")
    print("| cell | message, bytes | notebook, bytes | with widget state |")
    print("|---|---|---|---|")
    for name, (first, _, sizes) in measured.items():
        print(f"| {SUBJECTS[name].title} | {first.message_bytes:,} | {sizes[0]:,} | {sizes[1]:,} |")
    faults = [
        fault for first, again, _ in measured.values() for fault in first.faults + again.faults
    ]
    print(f"\nErrors on the pages: {faults or 'none'}")


def rows_of(
    measured: dict[str, tuple[Figures, Figures, tuple[int, int]]],
) -> Iterator[dict[str, Any]]:
    """Yield what was measured, as the page of figures reads it."""
    for name, (first, again, sizes) in measured.items():
        subject = {"subject": SUBJECTS[name].title, "tool": "Paddle Lab"}
        for way, figures in (("first run", first), ("again", again)):
            if not figures.times_ms["picture"]:
                continue
            yield subject | {
                "what": f"cell end to first picture, {way}",
                "value": round(statistics.median(figures.times_ms["picture"]) / 1e3, 3),
                "unit": "s",
                **({"bar": BARS_S[name]} if name in BARS_S else {}),
            }
        for what, size in zip(("notebook", "notebook with widget state"), sizes, strict=True):
            yield subject | {"what": what, "value": size, "unit": "bytes", "bar": 2_000_000}


def chromium() -> str | None:
    """Return the browser that the tests use; ``None`` for Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--kernels", type=int, default=3, help="fresh kernels a subject")
    parser.add_argument("--runs", type=int, default=3, help="runs in each kernel")
    parser.add_argument("--quick", action="store_true", help="one kernel, two runs, one subject")
    parser.add_argument("--json", type=Path, help="file for the rows of the page of figures")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.kernels, arguments.runs = 1, 2
        arguments.subjects = arguments.subjects or ["gpt-96"]
    unknown = set(arguments.subjects) - SUBJECTS.keys()
    if unknown:
        parser.error(f"no such subject: {', '.join(sorted(unknown))}")
    # A user's Python keeps the bytecode of what it has imported.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    packages = ("paddlepaddle", "jupyterlab", "anywidget", "ipykernel")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    with (
        tempfile.TemporaryDirectory() as folder,
        jupyter_server("lab", Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags)
        versions = [f"{name} {version(name)}" for name in packages]
        print(f"Python {sys.version.split()[0]}, {', '.join(versions)}, Chromium {browser.version}")
        print(f"{os.cpu_count()} cores, load average {load} before", end="", flush=True)
        measured = {
            name: measure_subject(
                SUBJECTS[name], server, browser, arguments.kernels, arguments.runs
            )
            for name in arguments.subjects or SUBJECTS
        }
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f", {load} after; {arguments.kernels} kernels, {arguments.runs} runs in each")
        print_tables(measured)
        if arguments.json:
            arguments.json.write_text(json.dumps(list(rows_of(measured)), indent=1))
        browser.close()


if __name__ == "__main__":
    main()
