"""The live chart when its notebook is opened again, with its kernel and without.

On a busy machine the page may give up before its kernel answers, and say so instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.live.live_chart import CHART_ON, MODEL, chart_of, expect_painted
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

pytestmark = pytest.mark.alone


def test_it_shows_what_was_before_and_without_its_kernel_what_stood_there(
    lab_page: OpenNotebook,
) -> None:
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

    again.server.end_kernels()
    expect(chart.locator(".pdl-live-state")).to_have_text("Stopped: the kernel has ended")

    again.leave()
    for kernel in (False, True):
        without = again.reopened(kernel=kernel)
        expect(without.page.locator(".pdl-live-gone")).to_contain_text(
            "A live chart of memory stood"
        )
        expect(without.page.get_by_text("Loading widget")).to_have_count(0)
        expect(without.page.get_by_text("model not found")).to_have_count(0)
