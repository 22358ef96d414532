"""How fluently a large graph moves: frames while it is dragged and zoomed, without a graphics card.

``python benchmarks/frames.py [--out FOLDER] [TAPE ...]`` opens saved pages of tapes (see
``tapes.py``) in Chromium with ``--disable-gpu`` and prints Markdown. Each row is a page at one zoom:
how many boxes are in view, then, of a drag and of a zoom by the wheel, frames a second as shown,
the longest wait between two, and the processor time of a frame: the page's main thread, and all
threads that draw (main, raster and compositor) together. The processor time does not hang on what
else the machine does, frames a second do. Frames are those which the compositor draws and swaps,
read from Chromium's own trace, so the cost of raster is in them. ``--out`` keeps pictures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# This file is run by its path; what it needs lies in the repository around it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.tapes import tape

TAPES = ("hub-2000", "attention-2000", "residual-2000", "hierarchical-50000", "chain-20000")
VIEWS = ((1440, 900), (2560, 1440))
SCALES = (0.0, 0.15, 0.3, 0.5, 1.0)
"""Screen px per px; 0 fits the whole graph into the view."""
STEPS = 60
CATEGORIES = ["toplevel", "viz", "cc", "devtools.timeline", "disabled-by-default-devtools.timeline"]
DRAWING_THREADS = (
    "CrRendererMain",
    "ThreadPoolForegroundWorker",
    "Compositor",
    "VizCompositorThread",
)


@dataclass(frozen=True)
class Moved:
    """What one movement took."""

    frames_per_second: float
    longest_ms: float
    main_ms: float
    all_ms: float

    def __str__(self) -> str:
        return (
            f"{self.frames_per_second:.0f} | {self.longest_ms:.0f} "
            f"| {self.main_ms:.1f} | {self.all_ms:.1f}"
        )


def camera(page: Page) -> tuple[float, float, float]:
    """Return x, y and scale of the picture."""
    x, y, scale = (page.get_attribute(".pdl-canvas > canvas", "data-camera") or "0 0 1").split()
    return float(x), float(y), float(scale)


def middle(page: Page) -> tuple[float, float]:
    box = page.locator(".pdl-canvas > canvas").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def zoom_to(page: Page, scale: float) -> None:
    """Turn the wheel over the middle until the scale is reached."""
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.move(x + 1, y)
    for _ in range(40):
        now = camera(page)[2]
        if abs(now / scale - 1) < 0.03:
            return
        page.mouse.wheel(0, max(-240, min(240, -_log(scale / now) / 0.0016)))
        page.wait_for_timeout(40)


def _log(ratio: float) -> float:
    import math

    return math.log(ratio)


def traced(browser: Browser, session: CDPSession, move: Any) -> Moved:
    """Run a movement under Chromium's tracing."""
    events: list[dict[str, Any]] = []
    done: list[bool] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: done.append(True))
    session.send(
        "Tracing.start",
        {"traceConfig": {"includedCategories": CATEGORIES}, "transferMode": "ReportEvents"},
    )
    begin = time.monotonic()
    move()
    elapsed = time.monotonic() - begin
    session.send("Tracing.end")
    while not done:
        browser.contexts[0].pages[0].wait_for_timeout(20)
    return read_trace(events, elapsed)


def read_trace(events: list[dict[str, Any]], elapsed_s: float) -> Moved:
    """Return the frames of a trace: when they were swapped, and what they cost."""
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    # The page's main thread is the one that is busy with animation frames.
    swaps = sorted(e["ts"] for e in events if e["name"] == "Display::DrawAndSwap")
    waits = [(b - a) / 1e3 for a, b in zip(swaps, swaps[1:], strict=False)]
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


def drag(page: Page) -> None:
    """Drag the picture to and fro, a step a frame."""
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(STEPS):
        turn = step if step < STEPS / 2 else STEPS - step
        page.mouse.move(x + 4 * turn, y + 3 * turn)
    page.mouse.up()


def wheel(page: Page) -> None:
    """Zoom in and out around the middle."""
    x, y = middle(page)
    page.mouse.move(x, y)
    for step in range(STEPS):
        page.mouse.wheel(0, -20 if step < STEPS / 2 else 20)


def measure(browser: Browser, html: Path, name: str, out: Path | None) -> None:
    for width, height in VIEWS:
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(html.as_uri())
        page.locator("#pdl-root[data-state=ready]").wait_for(timeout=120_000)
        page.locator(".pdl-canvas:not([aria-busy])").wait_for(timeout=120_000)
        if name.startswith("hierarchical"):
            page.get_by_role("button", name="Expand all").click()
            page.wait_for_timeout(300)
            page.locator(".pdl-canvas:not([aria-busy])").wait_for(timeout=120_000)
        page.locator(".pdl-canvas > canvas").focus()
        page.keyboard.press("f")
        page.wait_for_timeout(600)
        smallest = camera(page)[2]
        session = browser.new_browser_cdp_session()
        for wanted in SCALES:
            if wanted and wanted < smallest * 1.1:
                continue
            if wanted:
                zoom_to(page, wanted)
            page.wait_for_timeout(500)
            scale = camera(page)[2]
            shown = page.get_attribute(".pdl-canvas > canvas", "data-in-view") or "?"
            if out is not None:
                page.screenshot(path=out / f"{name}-{width}-{scale:.3f}.png")
            results = [
                traced(browser, session, lambda move=move: move(page)) for move in (drag, wheel)
            ]
            print(
                f"| {name} | {width} × {height} | {scale:.3f} | {shown} | {results[0]} | {results[1]} |"
            )
            sys.stdout.flush()
        page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tapes", nargs="*", default=TAPES)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM"), args=["--disable-gpu", "--no-sandbox"]
        )
        print(f"Chromium {browser.version}, {STEPS} steps a movement\n")
        print(
            "| tape | view | scale | boxes in view | drag: frames/s | longest ms | main ms | all ms "
            "| zoom: frames/s | longest ms | main ms | all ms |"
        )
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for name in options.tapes:
            html = Path(folder) / f"{name}.html"
            tape(name).to_html(html)
            measure(browser, html, name, options.out)
        browser.close()


if __name__ == "__main__":
    main()
