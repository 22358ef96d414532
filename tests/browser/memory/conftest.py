"""Saved pages that open in the memory view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.browser.memory.memory_view import MemoryView
from tests.browser.memory.written_memory import steps
from tests.browser.saved_page import opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    OpenPage = Callable[[Trace], tuple[Page, list[str]]]
    MemoryPage = tuple[Page, MemoryView, list[str]]


@pytest.fixture
def page_of(browser: Browser, tmp_path: Path) -> OpenPage:
    """Open a trace's saved page."""

    def open_page(trace: Trace) -> tuple[Page, list[str]]:
        page, trouble = opened(browser, trace.to_html(tmp_path / "page.html"))
        expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
        return page, trouble

    return open_page


@pytest.fixture
def memory_page(page_of: OpenPage) -> MemoryPage:
    """Open the memory of the two steps."""
    page, trouble = page_of(steps())
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    return page, memory, trouble
