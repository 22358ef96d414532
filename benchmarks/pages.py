"""The same graphs in our saved page, in Netron's page and in Model Explorer's page.

``python benchmarks/pages.py [--quick] [--json FILE] [--limit S] [--screenshots FOLDER]`` loads each
tape in each tool's own page in Chromium, opens a block, and expands everything. Times are the
page's own: from the start of the navigation, or the mouse press, to the frame that shows the graph.
The file that a tool opens is written before, which is not timed. A step that exceeds the limit is
"timeout", a page that crashes is "crash". ``BENCH_PYTHON`` is the Python of the environment with
the other tools.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

# This file is run by its path: add the repository, which has the modules it needs, to the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Figure, Figures, options
from benchmarks.page_driver import GroupedPage, ToolPage, opened_page
from benchmarks.page_model_explorer import ModelExplorerPage
from benchmarks.page_netron import NetronPage
from benchmarks.page_paddle_lab import PaddleLabPage

GROUPED: dict[str, GroupedPage] = {
    tool.name: tool for tool in (PaddleLabPage(), ModelExplorerPage())
}
TOOLS: dict[str, ToolPage] = {
    "Paddle Lab": GROUPED["Paddle Lab"],
    "Netron": NetronPage(),
    **GROUPED,
}
HIERARCHICAL = "hierarchical-50000"
OWN_MASKS = f"{HIERARCHICAL}-own-masks"
PLAIN = "plain-blocks-50000"
# A block from the middle of many equal blocks.
BLOCKS = dict.fromkeys((HIERARCHICAL, OWN_MASKS, "gpt-96"), "blocks.48") | {PLAIN: "blocks.25"}
# If a tool cannot load the smaller graph, the larger one is not tried.
GROWING = {"chain-20000": "chain-5000", "chain-100000": "chain-20000"}
SUBJECTS = (
    PLAIN,
    HIERARCHICAL,
    OWN_MASKS,
    "gpt-96",
    "chain-5000",
    "chain-20000",
    "chain-100000",
    "hub-10000",
    "attention-1000",
)
QUICK_SUBJECTS = ("gpt-96", "chain-5000")
BARS = {
    ("chain-5000", "load"): 300.0,
    ("chain-20000", "load"): 800.0,
    ("chain-100000", "load"): 3_000.0,
    ("hub-10000", "load"): 1_000.0,
    (HIERARCHICAL, "open one block"): 50.0,
    (HIERARCHICAL, "expand everything"): 4_000.0,
    (OWN_MASKS, "open one block"): 50.0,
    (OWN_MASKS, "expand everything"): 4_000.0,
}


def work(tool_name: str, subject: str, file: Path, picture: str) -> None:
    """Drive one page in this process; print a line of JSON after each step."""
    tool = TOOLS[tool_name]
    with tool.serve(file) as address, opened_page(*tool.browser_arguments) as page:
        page.set_default_timeout(0)
        page.on("crash", lambda _: tell("crash"))
        page.on("pageerror", lambda error: tell("note", str(error)[:200]))
        tell("load", tool.load(page, address))
        grouped = GROUPED.get(tool_name)
        if subject in BLOCKS and grouped:
            page.wait_for_timeout(1_000)
            tell("open one block", grouped.open_block(page, BLOCKS[subject]))
            page.wait_for_timeout(1_000)
            tell("expand everything", grouped.open_all(page))
        if picture:
            page.wait_for_timeout(2_000)
            page.screenshot(path=picture)
    tell("end")


def _failure(errors: Path) -> str:
    """Return the last line that a process wrote before it died."""
    lines = errors.read_text().strip().splitlines()
    return f"failed: {lines[-1][:120]}" if lines else "failed"


def tell(step: str, value: float | str = 0.0) -> None:
    print(json.dumps([step, value]), flush=True)


def driven(
    tool: str, subject: str, file: Path, *, limit_s: float, picture: str = ""
) -> Iterator[tuple[str, float | None, str]]:
    """Yield step, milliseconds or None, and a note; end a process that exceeds the limit."""
    command = [sys.executable, __file__, "--work", tool, subject, str(file), picture]
    errors = file.with_suffix(".errors")
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, start_new_session=True
        )
    lines: queue.Queue[bytes] = queue.Queue()
    assert process.stdout
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    wanted = list(TOOLS[tool].steps if subject in BLOCKS else TOOLS[tool].steps[:1])
    try:
        while wanted:
            try:
                line = lines.get(timeout=limit_s)
            except queue.Empty:
                yield wanted[0], None, f"timeout after {limit_s:.0f} s"
                return
            step, value = json.loads(line) if line else ("crash", _failure(errors))
            if step == "crash":
                yield wanted[0], None, str(value or "crash")
                return
            if step == wanted[0]:
                yield wanted.pop(0), float(value), ""
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30 if not wanted else 0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _read(stream: Iterator[bytes], lines: queue.Queue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(b"")


def measured(
    figures: Figures,
    tool: str,
    subject: str,
    file: Path,
    *,
    runs: int,
    limit_s: float,
    picture: str,
) -> None:
    """Add the medians of several runs. A step that fails once is not run again."""
    times_ms: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    for run in range(runs):
        if failures:
            break
        shown = picture if run == 0 else ""
        for step, value_ms, note in driven(tool, subject, file, limit_s=limit_s, picture=shown):
            if value_ms is None:
                failures[step] = note
            else:
                times_ms.setdefault(step, []).append(value_ms)
    for step in TOOLS[tool].steps if subject in BLOCKS else TOOLS[tool].steps[:1]:
        bar = BARS.get((subject, step)) if tool == PaddleLabPage.name else None
        median_ms = statistics.median(times_ms[step]) if step in times_ms else None
        note = failures.get(step, "" if step in times_ms else "not reached")
        value = None if step in failures else median_ms
        figures.add(Figure(subject, step, tool, value, "ms", bar, note=note))


def _failed(figures: Figures, subject: str, tool: str) -> str:
    """Return the reason why a tool failed to load a graph, ``""`` if it did not fail."""
    loads = [
        row for row in figures.rows if (row.subject, row.tool, row.what) == (subject, tool, "load")
    ]
    return f"not tried after {subject}" if loads and loads[-1].value is None else ""


def main() -> None:
    if "--work" in sys.argv:
        tool_name, subject, file, picture = sys.argv[2:6]
        work(tool_name, subject, Path(file), picture)
        return
    parser = options(__doc__)
    parser.add_argument("subjects", nargs="*", help="names of tapes")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a step")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="only this one")
    parser.add_argument("--screenshots", type=Path, help="keep a picture of each page here")
    given = parser.parse_args()
    from benchmarks.tapes import tape

    # If this process is ended, also end the pages: each runs in its own session.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    figures = Figures(given.json)
    subjects = given.subjects or (QUICK_SUBJECTS if given.quick else SUBJECTS)
    limit_s = min(given.limit, 20) if given.quick else given.limit
    for subject in subjects:
        trace = tape(subject)
        for name, tool in TOOLS.items():
            if given.tool and name not in given.tool:
                continue
            if failed := _failed(figures, GROWING.get(subject, ""), name):
                figures.add(Figure(subject, "load", name, note=failed))
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    exported_file = tool.export(trace, Path(folder))
                except (OSError, subprocess.CalledProcessError) as fault:
                    figures.add(Figure(subject, "load", name, note=f"failed: {fault}"[:120]))
                    continue
                picture = ""
                if given.screenshots:
                    given.screenshots.mkdir(parents=True, exist_ok=True)
                    picture = str(given.screenshots / f"{subject}_{name.replace(' ', '_')}.png")
                measured(
                    figures,
                    name,
                    subject,
                    exported_file,
                    runs=1 if given.quick or name != PaddleLabPage.name else 3,
                    limit_s=limit_s,
                    picture=picture,
                )
    figures.print_table()


if __name__ == "__main__":
    main()
