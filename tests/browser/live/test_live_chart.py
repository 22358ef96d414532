"""The running live chart in real applications: its lines, marks, axis and appearance."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opened_notebooks
from tests.browser.live.live_chart import CHART_ON, MODEL, chart_of, expect_painted, start_cell
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Request

    from tests.browser.notebook_page import NotebookPage, Theme
    from tests.browser.server_process import JupyterServer

    Shown = tuple[NotebookPage, Locator, list[str]]

PLAIN = """import os
begin = time.time()
while not os.path.exists("seen") and time.time() - begin < 60:
    network(images)"""


def _keep_address(addresses: list[str], request: Request) -> None:
    addresses.append(request.url)


@pytest.fixture(scope="module", params=["lab", "notebook"])
def shown(request: pytest.FixtureRequest, browser: Browser, screenshots: Path) -> Iterator[Shown]:
    """Each application with a notebook, its chart, and the addresses that the page has loaded."""
    name = "lab_server" if request.param == "lab" else "notebook7_server"
    server: JupyterServer = request.getfixturevalue(name)
    for open_notebook in opened_notebooks(server, browser, screenshots, "live_chart"):
        notebook = open_notebook(notebook_of(CHART_ON, MODEL, PLAIN))
        addresses: list[str] = []
        notebook.page.on("request", partial(_keep_address, addresses))
        if server.application == "lab":
            notebook.command("application:toggle-left-area")
        for index in (0, 1):
            notebook.run_cell(index)
        yield notebook, chart_of(notebook), addresses


in_lab = pytest.mark.parametrize("shown", ["lab"], indirect=True)


@pytest.fixture
def notebook(shown: Shown) -> NotebookPage:
    shown[0].page.set_viewport_size({"width": 1280, "height": 900})
    shown[0].cell(0)
    return shown[0]


@pytest.fixture
def chart(shown: Shown) -> Locator:
    return shown[1]


def test_it_tells_values_marks_and_what_this_machine_lacks(
    notebook: NotebookPage, chart: Locator, shown: Shown
) -> None:
    number = (notebook.execution_count(2) or 2) + 1
    start_cell(notebook, 2)

    running = chart.locator(".pdl-live-running")
    expect(running).to_have_text(re.compile(rf"cell \[{number}\] · (layer|conv|bn|relu|maxpool)"))
    paddle_list = chart.get_by_role("list", name="Paddle, cpu")
    for name in ("allocated", "reserved", "peak allocated"):
        item = paddle_list.get_by_role("button", name=re.compile(rf"^{name}"))
        expect(item.locator("output")).to_have_text(re.compile(r"^\d.* [KMG]iB"))
    machine = chart.get_by_role("list", name="Machine")
    expect(machine.get_by_role("button", name=re.compile("^process"))).to_contain_text("MiB")
    expect(chart.locator(".pdl-live-absent")).to_contain_text("built for the CPU")
    expect_painted(chart, 3)
    (notebook.server.root / "seen").touch()
    expect(running).to_have_text("")
    notebook.wait_for_kernel()
    (notebook.server.root / "seen").unlink()

    bokeh = [address for address in shown[2] if "bokeh" in address]
    assert bokeh, "it is fetched once the chart is there"
    assert all(address.startswith(notebook.server.url) for address in bokeh), bokeh


@in_lab
def test_a_line_is_switched_off_and_on(chart: Locator) -> None:
    resident = chart.get_by_role("button", name=re.compile("^process"))

    expect(resident).to_have_attribute("aria-pressed", "true")
    resident.click()
    expect(resident).to_have_attribute("aria-pressed", "false")
    expect(resident).to_have_css("opacity", "1")
    resident.click()
    expect(resident).to_have_attribute("aria-pressed", "true")


@in_lab
def test_a_dragged_axis_stands_still_until_one_goes_back(
    notebook: NotebookPage, chart: Locator
) -> None:
    expect_painted(chart, 1)
    back = chart.get_by_role("button", name="Back to now")
    expect(back).to_be_hidden()

    chart.locator(".pdl-live-chart").focus()
    notebook.page.keyboard.press("ArrowLeft")
    expect(back).to_be_visible()
    notebook.page.keyboard.press("End")
    expect(back).to_be_hidden()

    box = chart.locator(".pdl-live-chart").bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    notebook.page.mouse.move(*middle)
    notebook.page.mouse.down()
    notebook.page.mouse.move(middle[0] + 120, middle[1], steps=5)
    notebook.page.mouse.up()
    expect(back).to_be_visible()
    back.click()
    expect(back).to_be_hidden()


def test_light_dark_and_narrow(notebook: NotebookPage, chart: Locator) -> None:
    themes: tuple[Theme, ...] = ("dark", "light")
    for width in (1280, 480):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        for theme in themes:
            notebook.theme(theme)
            expect(chart).to_have_attribute("data-state", "live")
            expect_painted(chart, 2)
            notebook.page.wait_for_function(
                "chart => chart.scrollWidth <= chart.clientWidth", arg=chart.element_handle()
            )
        notebook.screenshot(f"live_{width}")
