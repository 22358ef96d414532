"""Kernel and Jupyter server in two environments; either may lack what is needed to show widgets.

A page takes its extensions from the server when it is loaded: one server and one kernel of each
kind run the usual combinations. With ``PADDLE_LAB_ALL_ENVIRONMENTS=1`` all combinations run.
"""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.notebook_page import NotebookPage, notebook_of
from tests.browser.server_process import JupyterServer, jupyter_server
from tests.browser.split.labextensions import (
    ANYWIDGET,
    COMBINATIONS,
    MANAGER,
    OURS,
    Labextensions,
    letters,
)
from tests.browser.split.lesser_kernels import install_lesser_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

ALL, NONE = frozenset({OURS, ANYWIDGET, MANAGER}), frozenset()
LACKS = {"python3": "", "no-anywidget": "anywidget", "no-ipywidgets": "ipywidgets"}
# The combinations in which a page once showed an error in red, the best one and the barest one.
USUAL = {
    ALL,
    frozenset({OURS, ANYWIDGET}),
    frozenset({OURS, MANAGER}),
    frozenset({MANAGER}),
    frozenset(),
}
CASES = [
    pytest.param(kernel, names, id=f"{kernel}-{letters(names)}")
    for kernel, lacks in LACKS.items()
    for names in COMBINATIONS
    if names in (USUAL if not lacks else {frozenset({MANAGER})})
    or os.environ.get("PADDLE_LAB_ALL_ENVIRONMENTS")
]
SETUP = """%load_ext paddle_lab
import paddle
class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 4)
    def forward(self, x):
        return self.fc(x).tanh()
net = Block()"""
STEP = "net(paddle.ones([8, 4])).mean().backward()"
CELLS = (SETUP, f"%%paddle_trace --view ladder\n{STEP}", f"%%paddle_mem\n{STEP}", "%paddle_mem")
TRACE, MEM, CHART = 1, 2, 3
RELOAD_LIMIT_MS = 60_000


class SplitServer:
    """A server whose extensions are chosen with each page."""

    def __init__(self, server: JupyterServer, extensions: Labextensions, browser: Browser) -> None:
        self.server = server
        self._extensions = extensions
        self._context = browser.new_context(viewport={"width": 1280, "height": 1500})
        self._context.set_default_timeout(30_000)

    def open(self, kernel: str, names: frozenset[str]) -> NotebookPage:
        """Open the kernel's notebook in a page with these extensions."""
        self._extensions.have(names)
        file = f"{kernel}.ipynb"
        is_new = not (self.server.root / file).exists()
        if is_new:
            nbformat.write(notebook_of(*CELLS, kernel=kernel), self.server.root / file)
        for page in self._context.pages:
            page.close()
        notebook = NotebookPage(self._context.new_page(), self.server, file, None)
        notebook.open()
        if is_new:
            notebook.run_cell(0)
        return notebook

    def end(self) -> None:
        """Close the pages and end the kernels."""
        self._context.close()
        self.server.end_kernels()


@pytest.fixture(scope="module")
def split_server(
    tmp_path_factory: pytest.TempPathFactory, browser: Browser
) -> Iterator[SplitServer]:
    folder = tmp_path_factory.mktemp("split")
    extensions = Labextensions(folder / "labextensions")
    for name, lacks in LACKS.items():
        if lacks:
            install_lesser_kernel(folder / "server/data", name, lacks)
    option = f"--LabApp.labextensions_path={extensions.folder}"
    with jupyter_server("lab", folder / "server", option) as server:
        split = SplitServer(server, extensions, browser)
        yield split
        split.end()


def sentence(kernel: str, names: frozenset[str]) -> str | None:
    """Return the beginning of the sentence on what is missing; None if a live view is shown."""
    if LACKS[kernel]:
        return f"The kernel that ran this cell has no {LACKS[kernel]}, which a live view needs."
    if {ANYWIDGET, MANAGER} <= names:
        return None
    if OURS in names:
        packages = {ANYWIDGET: "anywidget", MANAGER: "jupyterlab_widgets"}
        missing = " and ".join(name for it, name in packages.items() if it not in names)
        return f"This Jupyter server has no {missing}, which a live view needs."
    if MANAGER in names:
        return "This page has no anywidget "
    return "JupyterLab and Notebook 7 show the graph itself where"


def expect_graph_or_picture(output: Locator, drawn: str | None) -> None:
    """Expect a view that says ``drawn``, or the still picture."""
    if drawn:
        view = output.locator(".pdl-app").first
        expect(view).to_be_visible()
        expect(view).to_contain_text(drawn)
        return
    image = output.locator("img").first
    expect(image).to_be_visible()
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
    picture = base64.b64decode((image.get_attribute("src") or "").partition(",")[2])
    assert b">Block<" in picture
    assert b">fc<" in picture


def keep_picture(page: Page, screenshots: Path, name: str) -> None:
    if os.environ.get("PADDLE_LAB_SCREENSHOTS"):
        page.screenshot(path=screenshots / f"split-{name}.png")


@pytest.mark.parametrize(("kernel", "names"), CASES)
def test_a_picture_or_the_graph_and_what_to_install_where(
    split_server: SplitServer, screenshots: Path, kernel: str, names: frozenset[str]
) -> None:
    notebook = split_server.open(kernel, names)
    for index in (TRACE, MEM, CHART):
        notebook.run_cell(index)

    wanted = sentence(kernel, names)
    is_drawn = OURS in names or wanted is None
    for index, said in ((TRACE, "Block"), (MEM, "saved activation")):
        output = notebook.cell(index).locator(".jp-OutputArea").first
        expect_graph_or_picture(output, said if is_drawn else None)
        if wanted is not None:
            expect(output).to_contain_text(wanted)
            expect(output).to_contain_text("without the kernel" if is_drawn else "A still picture.")
        else:
            expect(output).not_to_contain_text("which a live view needs")
        if not LACKS[kernel]:
            expect(output).not_to_contain_text(re.compile("cell again", re.IGNORECASE))
    keep_picture(notebook.page, screenshots, f"{kernel}-{letters(names)}")

    chart = notebook.cell(CHART).locator(".jp-OutputArea").first
    if wanted is not None:
        as_chart = wanted.replace("show the graph itself where", "show it while its kernel runs")
        expect(chart).to_contain_text(as_chart)
    elif OURS in names:
        expect(chart.locator(".pdl-live")).to_be_visible()
    else:
        # BokehJS comes from our extension, or over the network.
        expect(chart.locator(".pdl-live").or_(chart.get_by_text("BokehJS")).first).to_be_visible()
    expect(notebook.page.get_by_text("javascript error")).to_have_count(0)
    assert notebook.errors() == []


@pytest.mark.parametrize(
    "names", [NONE, frozenset({MANAGER}), frozenset({OURS, ANYWIDGET})], ids=letters
)
def test_what_was_missing_is_there_after_a_reload(
    split_server: SplitServer, names: frozenset[str]
) -> None:
    notebook = split_server.open("python3", names)
    for index in (TRACE, CHART):
        notebook.run_cell(index)
    notebook.save()

    again = split_server.open("python3", ALL)
    expect_graph_or_picture(again.cell(TRACE).locator(".jp-OutputArea").first, "Block")
    chart = again.cell(CHART).locator(".pdl-live")
    expect(chart).to_be_visible(timeout=RELOAD_LIMIT_MS)
    # Its counters are what the kernel answers.
    expect(chart).to_contain_text("peak allocated")


def test_a_cell_that_is_run_again_is_live_once_its_kernel_has_anywidget(
    split_server: SplitServer,
) -> None:
    notebook = split_server.open("no-anywidget", ALL)
    notebook.run_cell(TRACE)
    output = notebook.cell(TRACE).locator(".jp-OutputArea").first
    expect(output).to_contain_text("%pip install anywidget")
    for package in split_server.server.root.parent.glob("data/packages/no-ipywidgets/anywidget*"):
        beside = package.parent.with_name("no-anywidget") / package.name
        beside.symlink_to(package.resolve())
    notebook.run_cell(TRACE)
    expect_graph_or_picture(output, "Block")
    expect(output).not_to_contain_text("which a live view needs")
