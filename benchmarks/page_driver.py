"""The shared parts of the drivers of pages: a browser, marks in the page, and a server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

from playwright.sync_api import Page, sync_playwright

from paddle_lab.api import Trace

WINDOW = {"width": 1400, "height": 900}

# `pdlAfterPaint(name)` sets a mark: the time of the next painted frame, in ms since the navigation
# began. Only the first call sets it, until `pdlMarks` is reset. The caller's graph must be in the
# document by then, or be painted in that frame.
PAINTED = """
window.pdlMarks = {};
window.pdlAfterPaint = (name) => requestAnimationFrame(() => {
  // A message comes after the frame that this callback belongs to.
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = performance.now();
    if (!(name in pdlMarks)) console.debug("pdl mark", name, now);
    pdlMarks[name] ??= now;
  };
  channel.port2.postMessage(0);
});
"""
# A newly started browser loads its own pages, which should not delay the graph.
SETTLED_MS = 2_000


class ToolPage(Protocol):
    """A tool's page with a graph. Each step returns the milliseconds it took."""

    name: str
    steps: tuple[str, ...]
    browser_arguments: tuple[str, ...]

    def export(self, trace: Trace, folder: Path) -> Path:
        """Return the file that the tool opens; this is not timed."""

    def serve(self, file: Path) -> AbstractContextManager[str]:
        """Return a context that yields the address at which the page shows the file."""

    def load(self, page: Page, address: str) -> float:
        """Open the page; return the time from navigation to the graph painted."""


class GroupedPage(ToolPage, Protocol):
    """A page with groups that open."""

    def open_block(self, page: Page, label: str) -> float:
        """Open one block."""

    def open_all(self, page: Page) -> float:
        """Open everything."""


def tools_python() -> str:
    """Return the Python of the environment that the other tools are installed in."""
    return os.environ.get("BENCH_PYTHON", str(Path(".venv/bench/bin/python").absolute()))


def chromium() -> str | None:
    """Return the browser that the tests use; ``None`` for Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


# Fonts and counters are on the network, which may not answer. They are blocked, so that no page
# waits for them. A route in the driver would also block them, but then every request of a page
# would pass through the driver.
HERE_ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"


@contextmanager
def opened_page(*arguments: str) -> Iterator[Page]:
    """Yield an empty page in a new browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-dev-shm-usage", HERE_ALONE, *arguments],
        )
        context = browser.new_context(viewport=WINDOW)
        context.add_init_script(PAINTED)
        page = context.new_page()
        page.on("console", lambda message: _note(page, message.text))
        page.wait_for_timeout(SETTLED_MS)
        yield page
        browser.close()


_marks: WeakKeyDictionary[Page, dict[str, float]] = WeakKeyDictionary()


def _note(page: Page, text: str) -> None:
    match text.split():
        case ["pdl", "mark", name, value]:
            _marks.setdefault(page, {})[name] = float(value)


def wait_for_mark(page: Page, name: str) -> float:
    """Return a mark once it is set; the caller limits the time.

    The page itself reports the mark: polling would run in the page and be timed, too.
    """
    while name not in _marks.get(page, {}):
        page.wait_for_timeout(10)
    return _marks[page][name]


def forget_mark(page: Page, name: str) -> None:
    """Reset a mark, so that the driver can wait for its next value."""
    page.evaluate("(name) => { delete pdlMarks[name]; }", name)
    _marks.get(page, {}).pop(name, None)


@contextmanager
def served(*command: str, port: int) -> Iterator[str]:
    """Run a server while the context is open; yield its address."""
    address = f"http://localhost:{port}/"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(address, timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
