"""What remains in kernel and page after a cell has run again, or was cleared or deleted.

The tests count objects, not bytes: one object may keep a whole trace alive.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook
    from tests.browser.notebook_page import NotebookPage

SETUP = """import gc, json
import ipywidgets, paddle, paddle_lab
from IPython.display import clear_output, display
%load_ext paddle_lab

def net():
    x = paddle.ones([4, 4])
    x.stop_gradient = False
    (x * 2).tanh().mean().backward()

def alive(*kinds):
    gc.collect()
    names = [type(one).__name__ for one in gc.get_objects()]
    return [names.count(kind) for kind in kinds] + [len(ipywidgets.widgets.widget._instances)]"""
COUNT = 'print(json.dumps(alive("Trace", "Record", "GraphWidget", "LiveMemory")))'
NOTHING = [0, 0, 0, 0, 0]

TRACE = "%%paddle_trace\nnet()"
CELLS = {
    "trace": TRACE,
    "mem": "%%paddle_mem\nnet()",
    "chart": "%paddle_mem\nnet()\n%paddle_mem off",
    "loop": """for turn in range(3):
    with paddle_lab.trace() as kept:
        net()
    clear_output()
    display(kept)""",
}
# A model that a page keeps has a view's data, or is small: of each there is what a cell shows.
MODELS = """async () => {
  const { rendermime } = window.jupyterapp.shell.currentWidget.content;
  const renderer = rendermime.createRenderer("application/vnd.jupyter.widget-view+json");
  const manager = await renderer._manager.promise;
  renderer.dispose();
  return Object.keys(manager._models).length + manager._modelsSync.size;
}"""
# How often to look for the expected counts, and the pause between two looks.
_LOOKS, _PAUSE_MS = 30, 1000


def opened(lab_page: OpenNotebook, *cells: str) -> NotebookPage:
    """Open a notebook whose first cell counts what is alive, and which has loaded the extension."""
    notebook = lab_page(notebook_of(COUNT, SETUP, *cells))
    notebook.run_cell(1)
    return notebook


def alive(notebook: NotebookPage) -> list[int]:
    """Count in the kernel: traces, records, graphs, charts, and all widgets that are open.

    A graph is four: itself, what stands for it in a page without anywidget, and their layouts.
    """
    notebook.run_cell(0)
    found: list[int] = json.loads(notebook.output_text(0))
    return found


def expect_alive(notebook: NotebookPage, expected: list[int]) -> None:
    """Wait until the kernel has what is expected: the page is asked when its cell has ended."""
    found: list[int] = []
    for _ in range(_LOOKS):
        found = alive(notebook)
        if found == expected:
            return
        notebook.page.wait_for_timeout(_PAUSE_MS)
    assert found == expected


def select(notebook: NotebookPage, index: int) -> None:
    notebook.page.evaluate(
        "(i) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", index
    )


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_runs_again_leaves_what_its_first_run_left(
    lab_page: OpenNotebook, name: str
) -> None:
    notebook = opened(lab_page, CELLS[name])
    shown = notebook.cell(2).locator(".pdl-app")
    notebook.run_cell(2)
    expect(shown).to_have_count(1)
    # The page reports cleared outputs two seconds later.
    notebook.page.wait_for_timeout(5 * _PAUSE_MS)
    first, models = alive(notebook), notebook.page.evaluate(MODELS)
    for _ in range(2):
        notebook.run_cell(2)
        expect(shown).to_have_count(1)
    expect_alive(notebook, first)
    notebook.page.wait_for_function(f"async () => (await ({MODELS})()) <= {models}")
    expect(shown).to_have_count(1)


def test_a_page_loads_a_view_that_no_plugin_offers_once(lab_page: OpenNotebook) -> None:
    notebook = opened(lab_page, TRACE)
    notebook.page.evaluate(
        """() => {
          globalThis[Symbol.for("paddle-lab.view")] = { build: "another" };
          const make = URL.createObjectURL;
          globalThis.large = 0;
          URL.createObjectURL = (blob) => {
            if (blob.type === "text/javascript" && blob.size > 100_000) globalThis.large++;
            return make.call(URL, blob);
          };
        }"""
    )
    for _ in range(2):
        notebook.run_cell(2)
        expect(notebook.cell(2).locator(".pdl-canvas > canvas")).to_be_visible()
        notebook.page.wait_for_timeout(_PAUSE_MS)
    assert notebook.page.evaluate("large") == 1


def test_a_cell_that_was_cleared_or_deleted_leaves_the_latest_trace(lab_page: OpenNotebook) -> None:
    notebook = opened(lab_page, TRACE, TRACE, "del _trace")
    for command in ("notebook:clear-cell-output", "notebook:delete-cell"):
        notebook.run_cell(2)
        expect(notebook.cell(2).locator(".pdl-canvas > canvas")).to_be_visible()
        select(notebook, 2)
        notebook.command(command)
        expect_alive(notebook, [1, 3, 0, 0, 0])
    notebook.run_cell(3)
    expect_alive(notebook, NOTHING)


def test_a_widget_with_a_name_is_shown_as_long_as_a_cell_shows_it_and_again(
    lab_page: OpenNotebook,
) -> None:
    notebook = opened(
        lab_page, "%%paddle_trace -o kept\nnet()", "shown = kept.widget()\nshown", "shown"
    )
    for index in (2, 3, 4):
        notebook.run_cell(index)
    graph = notebook.cell(4).locator(".pdl-canvas > canvas")
    expect(graph).to_be_visible()

    notebook.run_cell(2)
    select(notebook, 3)
    notebook.command("notebook:clear-cell-output")
    # The widget of the previous trace is kept.
    expect_alive(notebook, [1, 3, 2, 0, 8])
    expect(graph).to_be_visible()

    select(notebook, 4)
    notebook.command("notebook:clear-cell-output")
    expect_alive(notebook, [1, 3, 2, 0, 4])
    notebook.run_cell(4)
    expect(graph).to_be_visible()
    expect_alive(notebook, [1, 3, 2, 0, 8])


def test_a_page_that_was_loaded_again_keeps_the_graph_until_its_cell_runs_again(
    lab_page: OpenNotebook,
) -> None:
    notebook = opened(lab_page, TRACE)
    notebook.run_cell(2)
    graph = notebook.cell(2).locator(".pdl-canvas > canvas")
    expect(graph).to_be_visible()
    first = alive(notebook)
    notebook.save()
    notebook.page.goto("about:blank")
    notebook.open()
    expect(notebook.cell(2).locator(".pdl-canvas > canvas")).to_be_visible(timeout=60_000)
    assert alive(notebook) == first
    notebook.run_cell(2)
    expect(notebook.cell(2).locator(".pdl-canvas > canvas")).to_be_visible()
    # The page that had it before answers no more.
    expect_alive(notebook, first)


def test_a_view_of_its_own_shows_the_graph_when_its_cell_is_gone(lab_page: OpenNotebook) -> None:
    notebook = opened(lab_page, TRACE, TRACE)
    notebook.run_cell(2)
    expect(notebook.cell(2).locator(".pdl-canvas > canvas")).to_be_visible()
    select(notebook, 2)
    notebook.command("notebook:create-output-view")
    view = notebook.page.locator(".jp-LinkedOutputView")
    expect(view.locator(".pdl-canvas > canvas")).to_be_visible()
    notebook.page.evaluate(
        """() => {
          const { shell } = window.jupyterapp;
          const [panel] = [...shell.widgets("main")].filter((each) => each.content?.activeCell);
          shell.activateById(panel.id);
        }"""
    )
    notebook.run_cell(2)
    expect(view.locator(".pdl-canvas > canvas")).to_be_visible()
    expect_alive(notebook, [1, 3, 1, 0, 4])

    select(notebook, 2)
    notebook.command("notebook:delete-cell")
    # It draws what the output stores, and needs no kernel.
    expect_alive(notebook, [1, 3, 0, 0, 0])
    expect(view.locator(".pdl-canvas > canvas")).to_be_visible()
