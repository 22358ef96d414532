"""Drives Model Explorer's page: load, open a block, expand all layers."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.exported_graph import exported, write_model_explorer
from benchmarks.page_driver import forget_mark, free_port, served, tools_python, wait_for_mark
from paddle_lab.api import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The numbers of the worker's answers: 1 for a graph that was read, 3 for an opened layer, 5 for a
# new layout.
_WATCH = """
const names = { 1: "load", 3: "laid", 5: "laid" };
const Thread = window.Worker;
window.Worker = class extends Thread {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      const name = names[data.eventType];
      // It draws an answer in the frame after.
      if (name) requestAnimationFrame(() => pdlAfterPaint(name));
    });
  }
};
addEventListener("pointerdown", (event) => { window.pdlPressed = event.timeStamp; }, true);
"""


class ModelExplorerPage:
    """Model Explorer from PyPI in its page, with WebGL in software."""

    name = "Model Explorer"
    steps: tuple[str, ...] = ("load", "open one block", "expand everything")
    browser_arguments: tuple[str, ...] = (
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    )

    def export(self, trace: Trace, folder: Path) -> Path:
        return write_model_explorer(exported(trace), folder / "graph.json")

    @contextmanager
    def serve(self, file: Path) -> Iterator[str]:
        port = free_port()
        command = str(Path(tools_python()).with_name("model-explorer"))
        given = (str(file), "--no_open_in_browser", "--skip_health_check", "--port", str(port))
        models = {"models": [{"url": str(file), "adapterId": "builtin_json"}]}
        with served(command, *given, port=port) as address:
            yield f"{address}?data={urllib.parse.quote(json.dumps(models))}"

    def load(self, page: Page, address: str) -> float:
        page.add_init_script(_WATCH)
        page.goto(address, wait_until="commit")
        return wait_for_mark(page, "load")

    def open_block(self, page: Page, label: str) -> float:
        """Open a block: find it by search, which moves it to the middle, and double-click it.

        Near the graph's ends it would not be exactly in the middle.
        """
        search = page.get_by_placeholder("Search nodes/layers by regex")
        search.fill(f"{label}$")
        # Find the block's content by its attributes: then the block's row has children, and a click
        # folds it.
        page.get_by_text("Attrs", exact=True).click()
        found = page.locator(".node-label", has_text=label).first
        found.click(modifiers=["Alt"], timeout=0)
        # The selected block's panel shows how large it is; then the camera moves to the block.
        page.get_by_text("#descendants").wait_for(timeout=0)
        page.wait_for_timeout(3_000)
        canvas = page.locator("canvas").first.bounding_box()
        assert canvas
        middle = canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2
        return _pressed_to_laid(page, lambda: page.mouse.dblclick(*middle))

    def open_all(self, page: Page) -> float:
        """Press "Expand all layers in the graph"."""
        search = page.get_by_placeholder("Search nodes/layers by regex")
        search.fill("")
        button = page.get_by_text("unfold_more_double", exact=True).first
        return _pressed_to_laid(page, lambda: button.click(no_wait_after=True))


def _pressed_to_laid(page: Page, press: Callable[[], None]) -> float:
    forget_mark(page, "laid")
    press()
    laid_ms = wait_for_mark(page, "laid")
    return laid_ms - float(page.evaluate("pdlPressed"))
