"""How fast a saved page with 1,000,000 allocations opens and reacts, and how fast trace.memory is.

``python benchmarks/million_allocations.py`` prints a Markdown table with a block of rows for each
shape of ``made_allocations.py``. The time of a press or a move lasts until the second frame after
it, the median of several. The CPU time of the main thread is given as well, because other work on
the machine does not lengthen it. Needs Paddle, the browser tests' packages and Chromium
(``CHROMIUM`` names another executable than the one on the path).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.figures import Figure, Figures, options
from benchmarks.made_allocations import SHAPES, traced_step
from benchmarks.page_driver import opened_page
from paddle_lab.api import Trace

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

COUNT = 1_000_000
OPEN_BAR_S, ANSWER_BAR_MS = 2.0, 100.0

WATCH_LONG_TASKS = """
window.pdlLongest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) pdlLongest = Math.max(pdlLongest, duration);
}).observe({ type: "longtask" });
"""

# Runs an action several times, each until the second frame after it; returns the median in ms.
ACT = """async ([source, times]) => {
  const act = eval(source);
  const target = document.querySelector(".pdl-timeline-pointer");
  const bounds = target.getBoundingClientRect();
  const point = (type, x, y, more = {}) => target.dispatchEvent(new PointerEvent(type, {
    clientX: bounds.left + x * bounds.width, clientY: bounds.top + y * bounds.height,
    bubbles: true, pointerId: 1, isPrimary: true, button: 0, buttons: 1, ...more }));
  const press = (key, more = {}) =>
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  const taken = [];
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    act({ point, press, i, times });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    taken.push(performance.now() - start);
  }
  return taken.sort((a, b) => a - b)[times >> 1];
}"""

ACTIONS = {
    "move the moment": "({ press }) => press('ArrowRight')",
    "brush: a drag over the timeline": """({ point, i, times }) => {
        if (i === 0) point("pointerdown", 0.05, 0.5);
        point("pointermove", 0.06 + (0.8 * i) / times, 0.5);
        if (i + 1 === times) point("pointerup", 0.06 + (0.8 * i) / times, 0.5);
      }""",
    "zoom in": "({ press }) => press('+')",
    "pan": """({ point, i, times }) => {
        if (i === 0) point("pointerdown", 0.9, 0.5, { shiftKey: true });
        point("pointermove", 0.9 - (0.8 * i) / times, 0.5, { shiftKey: true });
        if (i + 1 === times) point("pointerup", 0.1, 0.5, { shiftKey: true });
      }""",
    "zoom out": "({ press }) => press('-')",
    "select a block": """({ point, i, times }) => {
        point("pointerdown", 0.2 + (0.6 * i) / times, 0.8);
        point("pointerup", 0.2 + (0.6 * i) / times, 0.8);
      }""",
}

ANSWERS: dict[str, Callable[[Trace], Any]] = {
    "trace.allocations": lambda trace: repr(trace.allocations),
    "trace.memory, the peak": lambda trace: trace.memory.peak_bytes,
    "by op, layer, line and kind": lambda trace: [
        len(getattr(trace.memory, f"by_{by}")()) for by in ("op", "layer", "line", "kind")
    ],
    "block map": lambda trace: trace.memory.block_map(),
    "growth": lambda trace: len(trace.memory.growth()),
}


def cpu_s(session: CDPSession) -> float:
    """Return the CPU time that the page's main thread has spent in tasks."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def measure_page(figures: Figures, subject: str, path: Path, *, times: int) -> None:
    with opened_page("--disable-gpu") as page:
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.add_init_script(WATCH_LONG_TASKS)
        # A newly started browser is busy with its own pages.
        page.wait_for_timeout(1500)
        begin, cpu_begin = perf_counter(), cpu_s(session)
        open_timeline(page, path)
        taken, cpu = perf_counter() - begin, cpu_s(session) - cpu_begin
        note = f"main thread {cpu:.2f} s"
        figures.add(Figure(subject, "open", value=taken, bar=OPEN_BAR_S, note=note))
        page.wait_for_timeout(1000)
        page.evaluate("pdlLongest = 0")
        for what, action in ACTIONS.items():
            cpu_begin = cpu_s(session)
            taken = page.evaluate(ACT, [action, times])
            cpu = (cpu_s(session) - cpu_begin) / times * 1e3
            note = f"main thread {cpu:.0f} ms"
            bar = ANSWER_BAR_MS
            figures.add(Figure(subject, what, value=taken, unit="ms", bar=bar, note=note))
        longest = page.evaluate("pdlLongest")
        figures.add(Figure(subject, "longest task after opening", value=longest, unit="ms"))


def open_timeline(page: Page, path: Path) -> None:
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector("#pdl-root[data-state=ready]")
    page.locator(".pdl-canvas").first.click(position={"x": 5, "y": 5})
    page.keyboard.press("4")
    page.wait_for_selector(".pdl-memory[data-state=ready]")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")


def main() -> None:
    arguments = options(__doc__ or "").parse_args()
    figures = Figures(arguments.json)
    shapes = dict(list(SHAPES.items())[:1]) if arguments.quick else SHAPES
    step = traced_step()
    with tempfile.TemporaryDirectory() as folder:
        for name, make in shapes.items():
            subject = f"{name}, {COUNT:,} allocations"
            trace = make(step, COUNT)
            for what, answer in ANSWERS.items():
                begin = process_time()
                answer(trace)
                figures.add(Figure(subject, what, value=process_time() - begin, note="CPU"))
            begin = process_time()
            path = trace.to_html(Path(folder) / "page.html")
            taken = process_time() - begin
            note = f"CPU; {path.stat().st_size / 1e6:.1f} MB"
            figures.add(Figure(subject, "save as a page", value=taken, note=note))
            measure_page(figures, subject, path, times=5 if arguments.quick else 15)
    figures.print_table()


if __name__ == "__main__":
    main()
