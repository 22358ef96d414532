"""Drives Netron's page: it draws the whole graph at once and has no groups to open."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.exported_graph import exported, write_neutral
from benchmarks.page_driver import free_port, served, tools_python, wait_for_mark
from paddle_lab.api import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SERVE = """
import netron, sys, threading
netron.start(sys.argv[1], ("localhost", int(sys.argv[2])), browse=False)
threading.Event().wait()
"""
# Netron removes `eval`, which Playwright needs. Its page has the class `default` once it has drawn.
_WATCH = """
const original = window.eval;
Object.defineProperty(window, "eval", { get: () => original, set() {} });
addEventListener("DOMContentLoaded", () => {
  new MutationObserver(() => {
    if (document.body.classList.contains("default")) pdlAfterPaint("load");
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
});
"""


class NetronPage:
    """Netron from PyPI in its page."""

    name = "Netron"
    steps: tuple[str, ...] = ("load",)
    browser_arguments: tuple[str, ...] = ("--disable-gpu",)

    def export(self, trace: Trace, folder: Path) -> Path:
        graph = write_neutral(exported(trace), folder / "graph.json")
        model = folder / "graph.onnx"
        writer = Path(__file__).with_name("onnx_file.py")
        subprocess.run([tools_python(), str(writer), str(graph), str(model)], check=True)
        return model

    @contextmanager
    def serve(self, file: Path) -> Iterator[str]:
        port = free_port()
        with served(tools_python(), "-c", _SERVE, str(file), str(port), port=port) as address:
            yield address

    def load(self, page: Page, address: str) -> float:
        # Without this cookie, Netron asks for permission to count its users, and waits for the
        # answer.
        page.context.add_cookies([{"name": "consent", "value": "1", "url": address}])
        page.add_init_script(_WATCH)
        page.goto(address, wait_until="commit")
        return wait_for_mark(page, "load")
