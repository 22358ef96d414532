"""Fixtures for tests that run the product in Chromium.

``lab_page(notebook)`` and ``notebook7_page(notebook)`` open a notebook (a file, or one made by
`notebook_of`) in a real application and return a `NotebookPage`. Screenshots are saved in the
directory ``PADDLE_LAB_SCREENSHOTS``. Without it, a notebook's screenshots in light and dark are
skipped, because they take a second each.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.notebook_page import NotebookPage
from tests.browser.server_process import Application, JupyterServer, jupyter_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    OpenNotebook = Callable[[Path | nbformat.NotebookNode], NotebookPage]

_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_HERE = Path(__file__).parent
# An application is slow on a busy machine.
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in this directory, for ``-m 'not browser'``, and run it last.

    It costs most, and a process that another test forks meanwhile would hold the browser's pipes.
    """
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: _HERE in item.path.parents)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the one named by ``CHROMIUM``, one that is installed, or Playwright's own."""
    executable = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, _CHROMIUM_NAMES)), None
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                # If a test has altered a page, Chromium no longer treats it as a page of this
                # machine.
                "--disable-features=LocalNetworkAccessChecks",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory for pictures of the run."""
    named = os.environ.get("PADDLE_LAB_SCREENSHOTS")
    path = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """JupyterLab."""
    with jupyter_server("lab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def notebook7_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """Jupyter Notebook 7."""
    with jupyter_server("notebook", tmp_path_factory.mktemp("notebook7")) as server:
        yield server


@pytest.fixture
def lab_page(
    lab_server: JupyterServer, browser: Browser, screenshots: Path, request: pytest.FixtureRequest
) -> Iterator[OpenNotebook]:
    """Open a notebook in JupyterLab."""
    yield from opened_notebooks(lab_server, browser, screenshots, request.node.name)


@pytest.fixture
def notebook7_page(
    notebook7_server: JupyterServer,
    browser: Browser,
    screenshots: Path,
    request: pytest.FixtureRequest,
) -> Iterator[OpenNotebook]:
    """Open a notebook in Notebook 7."""
    yield from opened_notebooks(notebook7_server, browser, screenshots, request.node.name)


@pytest.fixture(params=["lab", "notebook"])
def jupyter_page(request: pytest.FixtureRequest) -> OpenNotebook:
    """Open a notebook; the test runs once in JupyterLab and once in Notebook 7."""
    application: Application = request.param
    name = "lab_page" if application == "lab" else "notebook7_page"
    open_notebook: OpenNotebook = request.getfixturevalue(name)
    return open_notebook


def opened_notebooks(
    server: JupyterServer, browser: Browser, screenshots: Path, name: str
) -> Iterator[OpenNotebook]:
    """Yield what opens notebooks in ``server``; then close their pages and end their kernels."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    opened = 0

    def open_notebook(notebook: Path | nbformat.NotebookNode) -> NotebookPage:
        nonlocal opened
        opened += 1
        stem = "".join(c if c.isalnum() else "_" for c in name)
        file = f"{stem}_{opened}.ipynb"
        if isinstance(notebook, Path):
            shutil.copy(notebook, server.root / file)
        else:
            nbformat.write(notebook, server.root / file)
        kept = screenshots if os.environ.get("PADDLE_LAB_SCREENSHOTS") else None
        page = NotebookPage(context.new_page(), server, file, kept)
        page.open()
        return page

    try:
        yield open_notebook
    finally:  # also where a notebook did not run to its end
        context.close()
        server.end_kernels()
        server.forget_settings()
