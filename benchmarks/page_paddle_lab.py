"""Drives our saved page: load, open a block, open all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.page_driver import forget_mark, wait_for_mark
from paddle_lab.api import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The picture records the number of visible boxes whenever it is drawn.
_WATCH = """
addEventListener("DOMContentLoaded", () => {
  new MutationObserver(() => {
    pdlAfterPaint("load");
    pdlAfterPaint("laid");
  }).observe(document.body, { subtree: true, attributeFilter: ["data-in-view"] });
});
addEventListener("pointerdown", (event) => { window.pdlPressed = event.timeStamp; }, true);
"""
# The position on screen of a row of the outline.
_PLACE = """(row) => {
  const canvas = document.querySelector(".pdl-canvas > canvas");
  const [x, y, scale] = canvas.dataset.camera.split(" ").map(Number);
  const [cx, cy] = row.dataset.centre.split(" ").map(Number);
  const box = canvas.getBoundingClientRect();
  return [box.x + x + cx * scale, box.y + y + cy * scale];
}"""


class PaddleLabPage:
    """A page that ``trace.to_html`` wrote."""

    name = "Paddle Lab"
    steps: tuple[str, ...] = ("load", "open one block", "expand everything")
    browser_arguments: tuple[str, ...] = ("--disable-gpu",)

    def export(self, trace: Trace, folder: Path) -> Path:
        return trace.to_html(folder / "graph.html")

    @contextmanager
    def serve(self, file: Path) -> Iterator[str]:
        yield file.as_uri()

    def load(self, page: Page, address: str) -> float:
        page.add_init_script(_WATCH)
        page.goto(address, wait_until="commit")
        return wait_for_mark(page, "load")

    def open_block(self, page: Page, label: str) -> float:
        """Double-click the folded run of blocks, and then, timed, its first block.

        All blocks are equal; the row that ``label`` names may not be in the document yet.
        """
        closed = '[role=treeitem][data-group][data-centre][aria-expanded="false"]'
        run = page.locator(f'{closed}[data-id^="fold:"]').first
        if run.count():
            _pressed_to_laid(page, lambda: page.mouse.dblclick(*run.evaluate(_PLACE)))
            page.wait_for_timeout(1_000)  # the picture moves to its new places
        block = page.locator(closed, has_text=label.rstrip("0123456789")).first
        return _pressed_to_laid(page, lambda: page.mouse.dblclick(*block.evaluate(_PLACE)))

    def open_all(self, page: Page) -> float:
        """Press "Open all"."""
        button = page.get_by_role("button", name="Open all")
        return _pressed_to_laid(page, lambda: button.click(no_wait_after=True))


def _pressed_to_laid(page: Page, press: Callable[[], None]) -> float:
    forget_mark(page, "laid")
    press()
    laid_ms = wait_for_mark(page, "laid")
    return laid_ms - float(page.evaluate("pdlPressed"))
