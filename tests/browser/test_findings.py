"""A cell with a planted bug: the sentence above the graph, and its link to the place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook
    from tests.browser.notebook_page import NotebookPage

SETUP = "%load_ext paddle_lab\nimport paddle\npaddle.seed(7)"
BROADCAST = """%%paddle_trace
net = paddle.nn.Sequential(paddle.nn.Linear(3, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 1))
x = paddle.randn([24, 3])
target = x.sum(axis=1)
loss = ((net(x) - target) ** 2).mean()
loss.backward()"""
GUILTY = "loss = ((net(x) - target) ** 2).mean()"
HEALTHY = "%%paddle_trace\npaddle.ones([2, 2]).exp()"
GRADIENTS = "%%paddle_trace --grads --view ladder\nnet(x).square().mean().backward()"


def _findings(notebook: NotebookPage, cell: int) -> tuple[GraphView, Locator]:
    view = GraphView(notebook.cell(cell))
    view.wait_until_drawn()
    return view, view.app.get_by_role("region", name="Findings")


def _expect_the_way_to_the_op(view: GraphView, findings: Locator) -> None:
    expect(findings.locator(".pdl-finding")).to_contain_text("every pair of both")
    expect(findings.locator("code").first).to_have_text(GUILTY)
    findings.get_by_role("button", name="Show in graph").click()
    view.wait_until_drawn()
    row = view.selected()
    expect(row).to_contain_text("subtract")
    expect(row).to_have_attribute("aria-label", re.compile("Warning, begins here"))
    expect(view.panel).to_contain_text("every pair of both")


def test_the_sentence_leads_to_its_op_and_its_line(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of(SETUP, BROADCAST, HEALTHY))
    notebook.run_all()
    view, findings = _findings(notebook, 1)
    _expect_the_way_to_the_op(view, findings)
    notebook.screenshot("finding")

    findings.get_by_role("button", name="cell 2, line 5").click()
    notebook.page.wait_for_function(
        """(line) => {
          const editor = window.jupyterapp.shell.currentWidget.content.activeCell?.editor;
          const at = editor?.getSelection();
          return at && editor.getLine(at.start.line) === line;
        }""",
        arg=GUILTY,
    )
    assert notebook.active_cell() == 1

    findings.get_by_role("button", name="Fold the findings away").click()
    expect(findings.locator(".pdl-finding")).to_have_count(0)
    view.show("Ladder")
    expect(findings.get_by_title("Show the findings")).to_contain_text("1 warning")

    # Where nothing was found, nothing is shown.
    _, none = _findings(notebook, 2)
    expect(none).to_have_count(0)
    assert notebook.errors() == []


def test_a_saved_notebook_tells_it_without_a_kernel(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, BROADCAST))
    notebook.run_all()
    _findings(notebook, 1)
    notebook.save()
    notebook.leave()
    again = notebook.reopened(kernel=False)
    view, findings = _findings(again, 1)
    _expect_the_way_to_the_op(view, findings)
    again.screenshot("finding_without_kernel")


def test_an_edge_of_the_ladder_shows_its_gradient(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, BROADCAST, GRADIENTS))
    notebook.run_all()
    view, _ = _findings(notebook, 2)
    view.show("Ladder")
    # The edge's middle lies between the places of the two grad nodes it joins.
    expect(view.app.locator(".pdl-norm-legend")).to_be_visible()
    view.panel.get_by_role("tab", name="Details").click()
    expect(view.panel.get_by_role("slider", name="Gradients over depth")).to_be_visible()
    notebook.screenshot("gradients_over_depth")
    row = view.outline.locator("[data-grad-node][data-centre]", has_text="SquareGrad").first
    view.click(row)
    view.panel.get_by_role("button", name="norm").first.click()
    expect(view.panel.get_by_role("heading", name="Gradient", exact=True)).to_be_visible()
    expect(view.panel.locator(".pdl-bar").first).to_be_attached()
    view.panel.get_by_text("As a table").click()
    expect(view.panel.locator("tbody tr").first).to_be_visible()
    notebook.screenshot("gradient")
    assert notebook.errors() == []
