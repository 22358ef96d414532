"""The quickstart notebook, run in JupyterLab and Notebook 7 as a newcomer would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opened_notebooks
from tests.browser.graph_view import GraphView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.notebook_page import NotebookPage
    from tests.browser.server_process import JupyterServer

_QUICKSTART = Path(__file__).parents[2] / "notebooks" / "01_quickstart.ipynb"
# Positions in the quickstart, from 0.
_NETWORK = 3
_STEP = 5
_TRACED = (_STEP, 11, 14, 16)


@pytest.fixture(scope="module", params=["lab", "notebook"])
def ran_quickstart(
    request: pytest.FixtureRequest, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    """The quickstart with all its cells run, once for each application."""
    name = "lab_server" if request.param == "lab" else "notebook7_server"
    server: JupyterServer = request.getfixturevalue(name)
    for open_notebook in opened_notebooks(server, browser, screenshots, "quickstart"):
        notebook = open_notebook(_QUICKSTART)
        notebook.run_all()
        yield notebook


@pytest.fixture
def quickstart(ran_quickstart: NotebookPage) -> NotebookPage:
    """Run the traced step again, so that each test begins with a view nobody has touched."""
    ran_quickstart.page.set_viewport_size({"width": 1280, "height": 900})
    ran_quickstart.run_cell(_STEP)
    assert ran_quickstart.errors() == []
    return ran_quickstart


def _graph(notebook: NotebookPage) -> GraphView:
    view = GraphView(notebook.cell(_STEP))
    view.wait_until_drawn()
    view.app.scroll_into_view_if_needed()
    return view


def test_every_traced_cell_shows_its_graph(quickstart: NotebookPage) -> None:
    for index in _TRACED:
        assert quickstart.saved().cells[index].source.startswith("%%paddle_trace")
        view = GraphView(quickstart.cell(index))
        view.wait_until_drawn()
        view.app.scroll_into_view_if_needed()
        quickstart.screenshot(f"quickstart-{index}")


def test_a_group_opens_by_keyboard_and_by_double_click(quickstart: NotebookPage) -> None:
    view = _graph(quickstart)
    fold = view.group("layers.0–3")
    expect(fold).to_have_attribute("aria-expanded", "false")
    before = view.outline.locator("[role=treeitem]").count()

    view.open_with_keyboard(fold)
    layer = view.group("layers.0")
    expect(layer).to_have_attribute("aria-expanded", "false")
    expect(view.outline.locator("[role=treeitem]")).to_have_count(before + 3)

    view.click(layer, double=True)
    expect(view.group("layers.0")).to_have_attribute("aria-expanded", "true")
    expect(view.group("self_attn")).to_be_attached()
    quickstart.screenshot("group-open")


def test_a_clicked_op_shows_its_stack_and_a_frame_shows_its_cell(quickstart: NotebookPage) -> None:
    view = _graph(quickstart)
    view.click(view.op("embedding"))

    expect(view.selected()).to_have_attribute(
        "data-op", view.op("embedding").get_attribute("data-op")
    )
    expect(view.panel.get_by_role("heading", level=2)).to_contain_text("embedding")
    expect(view.panel).to_contain_text("float32 [8, 16, 64]")
    frames = view.stack().locator(".pdl-frame-head button")
    # The user's own lines come first: those of the network's cell, then those of the traced cell.
    expect(frames.nth(0)).to_have_text(f"Cell {quickstart.execution_count(_NETWORK)}, line 14")
    expect(frames.nth(1)).to_have_text(f"Cell {quickstart.execution_count(_STEP)}, line 2")
    expect(view.stack().locator(".pdl-lit")).to_contain_text("hidden = self.embed(tokens)")
    quickstart.screenshot("op-selected")

    frames.nth(0).click()
    quickstart.page.locator(".paddle-lab-line-flash").wait_for()
    assert quickstart.active_cell() == _NETWORK
    assert quickstart.selected_line().strip() == "hidden = self.embed(tokens) + self.position"
    quickstart.screenshot("frame-followed")


def test_a_line_lights_the_ops_it_made(quickstart: NotebookPage) -> None:
    view = _graph(quickstart)
    view.line(3).get_by_role("button").click()

    expect(view.op("cross_entropy")).to_have_attribute("data-lit", "")
    expect(view.op("embedding")).not_to_have_attribute("data-lit", "")
    expect(view.panel.locator(".pdl-peek")).to_contain_text("cross_entropy")
    quickstart.screenshot("line-lit")


def test_an_op_leads_to_its_grad_node_and_back(quickstart: NotebookPage) -> None:
    view = _graph(quickstart)
    view.click(view.op("embedding"))
    op = view.op("embedding").get_attribute("data-op")
    view.panel.get_by_role("button", name="↔").first.click()

    selected = view.selected()
    expect(selected).to_contain_text("Embedding")
    grad_node = selected.get_attribute("data-grad-node")
    assert grad_node is not None
    expect(view.app.get_by_role("button", name="Ladder")).to_have_attribute("aria-pressed", "true")
    view.wait_until_drawn()
    quickstart.screenshot("ladder")

    view.show("Backward")
    expect(view.grad_node(grad_node)).to_have_attribute("aria-selected", "true")
    quickstart.screenshot("backward")

    view.panel.get_by_role("button", name="embedding").first.click()
    expect(view.selected()).to_have_attribute("data-op", op or "")
    expect(view.grad_node(grad_node)).to_have_attribute("data-lit", "")


def test_nothing_is_cut_off_in_a_narrow_window(quickstart: NotebookPage) -> None:
    quickstart.page.set_viewport_size({"width": 700, "height": 800})
    view = _graph(quickstart)
    view.click(view.op("embedding"))
    wide = view.app.evaluate("app => app.scrollWidth > app.clientWidth")
    assert not wide
    quickstart.screenshot("narrow")


# This test is the last, because it ends the kernel that the other tests use.
@pytest.fixture(scope="module")
def saved_quickstart(ran_quickstart: NotebookPage) -> NotebookPage:
    ran_quickstart.save()
    ran_quickstart.leave()
    return ran_quickstart


def test_a_graph_stays_when_a_slow_kernel_answers_at_last(saved_quickstart: NotebookPage) -> None:
    again, speak = saved_quickstart.reopened_with_a_silent_kernel()
    view = _graph(again)
    speak()
    again.wait_for_kernel()
    again.page.wait_for_timeout(1500)  # nothing tells when the widget's own renderer has given up
    expect(view.app).to_be_visible()
    view.click(view.op("embedding"))
    again.page.close()
    again.server.end_kernels()


@pytest.mark.parametrize("kernel", [False, True], ids=["no kernel", "new kernel"])
def test_a_saved_notebook_shows_its_graph_again(
    saved_quickstart: NotebookPage, kernel: bool
) -> None:
    again = saved_quickstart.reopened(kernel=kernel)
    view = _graph(again)
    assert again.server.running_kernels() == int(kernel)
    view.click(view.op("embedding"))
    expect(view.stack().locator(".pdl-lit")).to_contain_text("hidden = self.embed(tokens)")
    view.show("Ladder")
    again.screenshot("reopened")
    again.page.close()
    again.server.end_kernels()
