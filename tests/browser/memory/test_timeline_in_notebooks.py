"""The memory view in real notebooks, with and without a kernel."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.memory.memory_view import COLOURS_OF, MemoryView
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook
    from tests.browser.notebook_page import Theme

CELL = """\
import paddle, paddle_lab
net = paddle.nn.Sequential(paddle.nn.Linear(256, 512), paddle.nn.ReLU(), paddle.nn.Linear(512, 4))
adam = paddle.optimizer.Adam(parameters=net.parameters())
with paddle_lab.memory() as trace:
    for _ in range(2):
        net(paddle.ones([64, 256])).mean().backward()
        adam.step()
        adam.clear_grad()
"""


def test_without_a_kernel_it_is_still_the_memory_that_shows(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(CELL, 'trace.widget(view="memory")'))
    notebook.run_all()
    notebook.save()
    notebook.leave()
    again = notebook.reopened(kernel=False)
    memory = MemoryView(again.cell(1).locator(".pdl-app"))
    expect(memory.app.locator(".pdl-timeline[data-drawn]")).to_be_visible()


def test_it_is_drawn_in_a_notebook(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of(CELL, 'trace.widget(view="memory")'))
    notebook.run_all()
    assert notebook.errors() == []
    memory = MemoryView(notebook.cell(1).locator(".pdl-app"))
    notebook.screenshot("memory")
    expect(memory.app.locator(".pdl-timeline[data-drawn]")).to_be_visible()
    assert int(memory.app.locator(".pdl-timeline").get_attribute("data-drawn") or 0) > 4
    expect(memory.table).to_contain_text("parameter")
    memory.table.get_by_role("button", name=re.compile("Grad")).first.click()
    expect(memory.panel).to_contain_text("allocated")


def test_the_map_takes_the_colours_of_another_theme(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(CELL, 'trace.widget(view="memory")'))
    notebook.run_all()
    memory = MemoryView(notebook.cell(1).locator(".pdl-app"))
    memory.section.get_by_role("button", name="By address").click()
    figure = memory.section.locator(".pdl-map-figure")
    parameters: tuple[tuple[Theme, str], ...] = (
        ("light", "2a9465"),
        ("dark", "2b8a60"),
        ("light", "2a9465"),
    )
    for theme, parameter in parameters:
        notebook.theme(theme)
        for _ in range(20):
            picture = base64.b64encode(figure.screenshot()).decode()
            _, _, counts = notebook.page.evaluate(COLOURS_OF, picture)
            if parameter in counts:
                break
            notebook.page.wait_for_timeout(100)
        assert counts.get(parameter, 0) > 100
