"""A saved page in Chromium, and the errors that it reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def opened(browser: Browser, path: Path, *, scripts: bool = True) -> tuple[Page, list[str]]:
    """Open a saved page; return it, its errors, and the addresses that it tried to load."""
    context = browser.new_context(
        viewport={"width": 1100, "height": 760}, java_script_enabled=scripts
    )
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("blob:", "data:", path.as_uri()))
            else trouble.append(request.url)
        ),
    )
    page.goto(path.as_uri())
    return page, trouble
