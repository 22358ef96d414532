"""How smoothly a large graph moves: frames while it is dragged and zoomed, without a GPU.

``python benchmarks/frames.py [--quick] [--json FILE] [--out FOLDER] [TAPE ...]`` opens saved pages
of tapes (see ``tapes.py``) in Chromium with ``--disable-gpu`` and prints Markdown. Each row is one
page at one zoom level. It has the number of boxes in view, and then for a drag and for a zoom by
the wheel: frames per second, the longest wait between two frames, and the CPU time per frame, of
the page's main thread and of all drawing threads (main, raster, compositor). Other work on the
machine slows the frames down, but hardly changes their CPU time. The frames are read from
Chromium's own trace, when the compositor draws and swaps them, so they include the cost of raster.
``--out`` saves pictures.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.figures import Figure, Figures
from benchmarks.tapes import tape

TAPES = ("hub-2000", "attention-2000", "hierarchical-50000", "chain-20000", "chain-100000")
VIEWS = ((1440, 900), (2560, 1440))
SCALES = (0.0, 0.15, 0.3, 0.5, 1.0)
"""Screen px per world px; 0 fits the whole graph into the view."""
STEPS = 60
BAR_FRAMES_PER_SECOND = 30
MOST_BOXES_OF_BAR = 2500
LOADED_MS = 180_000
CANVAS = ".pdl-canvas > canvas"
CATEGORIES = ("toplevel", "viz", "cc", "devtools.timeline")
DRAWING_THREADS = ("CrRendererMain", "ThreadPoolForeground", "Compositor", "VizCompositor")
WHEEL = """([selector, clientX, clientY, steps]) => new Promise((done) => {
  const canvas = document.querySelector(selector);
  let step = 0;
  const timer = setInterval(() => {
    const deltaY = step < steps / 2 ? -20 : 20;
    const how = { deltaY, clientX, clientY, bubbles: true, cancelable: true };
    canvas.dispatchEvent(new WheelEvent("wheel", how));
    if (++step === steps) {
      clearInterval(timer);
      done();
    }
  }, 1000 / 60);
})"""
HEADS = "frames/s | longest ms | main ms | all ms"


@dataclass(frozen=True)
class Moved:
    """The frames and times of one movement."""

    frames_per_second: float
    longest_ms: float
    main_ms: float
    all_ms: float

    def __str__(self) -> str:
        return (
            f"{self.frames_per_second:.0f} | {self.longest_ms:.0f} "
            f"| {self.main_ms:.1f} | {self.all_ms:.1f}"
        )


def scale_of(page: Page) -> float:
    """Return the picture's scale: screen px per world px."""
    return float((page.get_attribute(CANVAS, "data-camera") or "0 0 1").split()[2])


def middle(page: Page) -> tuple[float, float]:
    """Return the middle of the picture."""
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def zoom_to(page: Page, scale: float) -> None:
    """Turn the wheel in the middle until the scale is reached."""
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.move(x + 1, y)
    for _ in range(80):
        ratio = scale / scale_of(page)
        if abs(ratio - 1) < 0.03:
            return
        page.mouse.wheel(0, max(-240.0, min(240.0, -math.log(ratio) / 0.0016)))
        page.wait_for_timeout(40)


def drag(page: Page) -> None:
    """Drag the picture back and forth, one step per frame."""
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(STEPS):
        turn = min(step, STEPS - step)
        page.mouse.move(x + 4 * turn, y + 3 * turn)
    page.mouse.up()


def wheel(page: Page) -> None:
    """Zoom in and out at the middle, with 60 wheel events per second.

    Playwright's own wheel waits for the page's answer, so it reaches at most 30 per second.
    """
    x, y = middle(page)
    page.mouse.move(x, y)
    page.evaluate(WHEEL, [CANVAS, x, y, STEPS])


def traced(page: Page, session: CDPSession, move: Callable[[Page], None]) -> Moved:
    """Run a movement with Chromium's tracing on."""
    events: list[dict[str, Any]] = []
    done: list[bool] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: done.append(True))
    config = {"includedCategories": list(CATEGORIES)}
    session.send("Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"})
    begin = time.monotonic()
    move(page)
    elapsed = time.monotonic() - begin
    session.send("Tracing.end")
    while not done:
        page.wait_for_timeout(20)
    return read_trace(events, elapsed)


def read_trace(events: list[dict[str, Any]], elapsed_s: float) -> Moved:
    """Return the frames in a trace: when they were swapped, and their CPU time."""
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    swaps = sorted(e["ts"] for e in events if e["name"] == "Display::DrawAndSwap")
    waits = [(b - a) / 1e3 for a, b in pairwise(swaps)]
    cpu_us: dict[str, float] = {}
    for event in events:
        if event["name"] in ("ThreadControllerImpl::RunTask", "ThreadPool_RunTask"):
            thread = names.get((event["pid"], event["tid"]), "")
            cpu_us[thread] = cpu_us.get(thread, 0) + event.get("tdur", 0)
    frames = max(1, len(swaps))
    drawing = sum(us for name, us in cpu_us.items() if name.startswith(DRAWING_THREADS))
    return Moved(
        frames_per_second=len(waits) / (sum(waits) / 1e3) if waits else frames / elapsed_s,
        longest_ms=max(waits, default=elapsed_s * 1e3),
        main_ms=cpu_us.get("CrRendererMain", 0) / 1e3 / frames,
        all_ms=drawing / 1e3 / frames,
    )


def settle(page: Page) -> None:
    """Wait until the picture is laid out and drawn."""
    page.wait_for_timeout(300)
    page.locator("canvas[data-in-view]").first.wait_for(timeout=LOADED_MS)
    page.wait_for_timeout(700)


@dataclass(frozen=True)
class Bench:
    """The browser, and the destination of figures and pictures."""

    browser: Browser
    figures: Figures
    out: Path | None
    is_quick: bool

    def measure(self, html: Path, name: str, view: tuple[int, int]) -> None:
        """Print a row for each zoom level of a page."""
        page = self.browser.new_page(viewport={"width": view[0], "height": view[1]})
        page.goto(html.as_uri())
        page.locator("#pdl-root[data-state=ready]").wait_for(timeout=LOADED_MS)
        settle(page)
        everything = page.get_by_role("button", name="Open all")
        if name.startswith("hierarchical") and everything.is_enabled():
            everything.click()
            settle(page)
        page.locator(CANVAS).focus()
        page.keyboard.press("f")
        settle(page)
        smallest = scale_of(page)
        session = self.browser.new_browser_cdp_session()
        scales = SCALES[::2] if self.is_quick else SCALES
        # For the largest graphs, the view of everything is the hard case: it has the most boxes.
        for wanted in scales if name.endswith("-2000") else scales[:1]:
            if wanted and wanted < smallest * 1.1:
                continue
            if wanted:
                zoom_to(page, wanted)
                settle(page)
            self._row(page, session, f"{name} | {view[0]} × {view[1]}", name)
        page.close()

    def _row(self, page: Page, session: CDPSession, title: str, name: str) -> None:
        shown = int(page.get_attribute(CANVAS, "data-in-view") or 0)
        scale = scale_of(page)
        if self.out is not None:
            slug = title.replace(" ", "").replace("|", "-")
            page.screenshot(path=self.out / f"{slug}-{scale:.4f}.png")
        dragged, zoomed = traced(page, session, drag), traced(page, session, wheel)
        print(f"| {title} | {scale:.4f} | {shown:,} | {dragged} | {zoomed} |", flush=True)
        for what, moved in (("drag", dragged), ("zoom", zoomed)):
            self.figures.add(
                Figure(
                    subject=name,
                    what=f"{what}, {shown:,} boxes in view",
                    value=moved.frames_per_second,
                    unit="frames/s",
                    # With more boxes than this, the bar is only that the page does not freeze.
                    bar=BAR_FRAMES_PER_SECOND if shown <= MOST_BOXES_OF_BAR else None,
                    at_least=True,
                    note=f"{title.split('| ')[1]} px, {moved.all_ms:.0f} ms of processor a frame",
                )
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tapes", nargs="*", default=TAPES)
    parser.add_argument("--quick", action="store_true", help="one tape, one size, fewer zooms")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    parser.add_argument("--out", type=Path, help="a folder for pictures of what was measured")
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    figures = Figures(options.json)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM"), args=["--disable-gpu", "--no-sandbox"]
        )
        bench = Bench(browser, figures, options.out, options.quick)
        print(f"Chromium {browser.version}, {STEPS} steps a movement\n")
        print(f"| tape | view | scale | boxes in view | drag: {HEADS} | zoom: {HEADS} |")
        print("|---|---|" + "---:|" * 10)
        for name in options.tapes[:1] if options.quick else options.tapes:
            html = Path(folder) / f"{name}.html"
            tape(name).to_html(html)
            for view in VIEWS[:1] if options.quick else VIEWS:
                bench.measure(html, name, view)
        browser.close()


if __name__ == "__main__":
    main()
