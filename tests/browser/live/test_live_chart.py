"""The running live chart in real applications: its lines, marks, axis and appearance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.live.live_chart import CHART_ON, MODEL, chart_of, expect_painted, start_cell
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook
    from tests.browser.notebook_page import Theme

pytestmark = pytest.mark.alone

# How long to wait for what a test expects. A page is slow on a busy machine.
PLAIN = """import os
begin = time.time()
while not os.path.exists("seen") and time.time() - begin < 60:
    network(images)"""
# A single C call, during which no other thread runs.
HELD = "total = sum(range(60_000_000))"


def test_it_tells_values_marks_and_what_this_machine_lacks(jupyter_page: OpenNotebook):
    notebook = jupyter_page(notebook_of(CHART_ON, MODEL, PLAIN))
    addresses: list[str] = []
    notebook.page.on("request", lambda request: addresses.append(request.url))
    notebook.run_cell(0)
    chart = chart_of(notebook)
    notebook.run_cell(1)
    notebook.cell(0)
    start_cell(notebook, 2)

    running = chart.locator(".pdl-live-running")
    expect(running).to_contain_text("cell [3]")
    expect(running).to_have_text(re.compile(r"cell \[3\] · (layer|conv|bn|relu|maxpool)"))
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
    (notebook.server.root / "seen").unlink()

    bokeh = [address for address in addresses if "bokeh" in address]
    assert bokeh, "it is fetched once the chart is there"
    assert all(address.startswith(notebook.server.url) for address in bokeh), bokeh


def test_a_line_is_switched_off_and_on(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON))
    notebook.run_cell(0)
    resident = chart_of(notebook).get_by_role("button", name=re.compile("^process"))

    expect(resident).to_have_attribute("aria-pressed", "true")
    resident.click()
    expect(resident).to_have_attribute("aria-pressed", "false")
    expect(resident).to_have_css("opacity", "1")
    resident.click()
    expect(resident).to_have_attribute("aria-pressed", "true")


def test_a_held_interpreter_is_a_gap(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, HELD))
    notebook.run_cell(0)
    chart = chart_of(notebook)
    expect(chart.locator(".pdl-live-gaps")).to_be_hidden()

    notebook.run_cell(1)

    expect(chart.locator(".pdl-live-gaps")).to_be_visible()
    # Content below the chart does not move when the gap is out of view.
    chart.locator(".pdl-live-chart").focus()
    for _ in range(8):
        notebook.page.keyboard.press("ArrowLeft")
    notebook.page.wait_for_timeout(500)
    expect(chart.locator(".pdl-live-gaps")).to_be_visible()


def test_a_dragged_axis_stands_still_until_one_goes_back(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON))
    notebook.run_cell(0)
    chart = chart_of(notebook)
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


def test_light_dark_and_narrow(jupyter_page: OpenNotebook):
    notebook = jupyter_page(notebook_of(CHART_ON, MODEL))
    notebook.run_cell(0)
    chart = chart_of(notebook)
    notebook.run_cell(1)
    notebook.cell(0)
    if notebook.server.application == "lab":
        notebook.command("application:toggle-left-area")
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
