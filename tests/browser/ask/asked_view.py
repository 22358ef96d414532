"""A page with a real model's graph, for tests of search, colours, isolation and tables."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.browser.graph_view import GraphView
from tests.browser.saved_page import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from paddle_lab.api import Trace


@contextmanager
def view_of(browser: Browser, trace: Trace, folder: Path) -> Iterator[GraphView]:
    """Open the page of a trace; nothing in it may fail."""
    page, trouble = opened(browser, trace.to_html(folder / "page.html"))
    page.set_viewport_size({"width": 1440, "height": 900})
    view = GraphView(page.locator("body"))
    view.wait_until_drawn()
    yield view
    assert trouble == []
    page.context.close()


def search(view: GraphView, query: str) -> None:
    """Write into the search field."""
    view.app.get_by_role("combobox").fill(query)


def open_all(view: GraphView) -> None:
    """Open every group."""
    # The button is marked as disabled while all is open already.
    view.app.get_by_role("button", name="Open all").evaluate("button => button.click()")
    view.wait_until_drawn()
