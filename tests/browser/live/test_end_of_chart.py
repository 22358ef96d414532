"""How the live chart ends: it is stopped or cleared, loses its kernel, or is opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.live.live_chart import CHART_ON, MODEL, chart_of, expect_painted, start_cell
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

pytestmark = pytest.mark.alone

THREADS = """import threading
print("paddle_lab sampler" in [thread.name for thread in threading.enumerate()])"""


def test_it_stops_when_its_output_is_cleared(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, THREADS))
    notebook.run_cell(0)
    chart_of(notebook)
    notebook.run_cell(1)
    assert notebook.output_text(1).strip() == "True"

    notebook.page.evaluate(
        "() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }"
    )
    notebook.command("notebook:clear-cell-output")
    expect(notebook.page.locator(".pdl-live")).to_have_count(0)

    # A view in another tab has a few seconds to report itself.
    for _ in range(20):
        notebook.page.wait_for_timeout(500)
        notebook.run_cell(1)
        if notebook.output_text(1).strip() == "False":
            break
    assert notebook.output_text(1).strip() == "False"


def test_its_button_stops_it_and_it_says_so(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, THREADS))
    notebook.run_cell(0)
    chart = chart_of(notebook)

    chart.get_by_role("button", name="Stop").click()

    expect(chart).to_have_attribute("data-state", "stopped")
    expect(chart.locator(".pdl-live-state")).to_contain_text("Stopped")
    notebook.run_cell(1)
    assert notebook.output_text(1).strip() == "False"


def test_a_kernel_that_ends_says_so(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON))
    notebook.run_cell(0)
    chart = chart_of(notebook)

    notebook.server.end_kernels()

    expect(chart.locator(".pdl-live-state")).to_have_text("Stopped: the kernel has ended")


def test_a_kernel_that_dies_is_silence_and_not_a_flat_line(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, "import os, signal\nos.kill(os.getpid(), 9)"))
    notebook.run_cell(0)
    chart = chart_of(notebook)

    start_cell(notebook, 1)

    expect(chart).to_have_attribute("data-state", "silent")
    expect(chart.locator(".pdl-live-state")).to_contain_text("the kernel has ended")


def test_a_page_opened_again_shows_what_was_before(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON, MODEL))
    notebook.run_cell(0)
    chart_of(notebook)
    notebook.run_cell(1)
    notebook.save()

    again = notebook.reopened(kernel=True)
    # Drawing two charts at once is slow on a machine without a GPU.
    notebook.page.close()

    chart = chart_of(again)
    expect(chart.get_by_role("list", name="Paddle, cpu")).to_contain_text("MiB")
    # The cell ran before this page was there.
    chart.get_by_role("button", name="All", exact=True).click()
    expect_painted(chart, 2)


def test_without_its_kernel_it_says_what_stood_there(lab_page: OpenNotebook):
    notebook = lab_page(notebook_of(CHART_ON))
    notebook.run_cell(0)
    chart_of(notebook)
    notebook.save()
    notebook.leave()
    for kernel in (False, True):
        again = notebook.reopened(kernel=kernel)
        expect(again.page.locator(".pdl-live-gone")).to_contain_text("A live chart of memory stood")
        expect(again.page.get_by_text("Loading widget")).to_have_count(0)
        expect(again.page.get_by_text("model not found")).to_have_count(0)
