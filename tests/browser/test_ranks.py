"""``%%paddle_ranks`` in JupyterLab: the run while it runs, at its end, and a rank's graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

SETUP = "%load_ext paddle_lab\nimport paddle_lab\npaddle_lab.language('en')"
JOB = """%%paddle_ranks -n 2
import time
import paddle
import paddle.distributed as dist

dist.init_parallel_env()
rank = dist.get_rank()
net = paddle.DataParallel(paddle.nn.Linear(4, 4))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(6):
    net(paddle.ones([2, 4])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    time.sleep(0.4 * rank)
loss = paddle.ones([1])
dist.all_reduce(loss, dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM)"""
LINE = "dist.all_reduce(loss, dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM)"


def test_a_run_is_shown_while_it_runs_and_its_ranks_open(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(SETUP, JOB))
    notebook.run_cell(0)
    cell = notebook.cell(1)
    # The cell has not ended when the command has begun.
    notebook.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
    expect(cell.get_by_text("Running: 2 of 2 ranks")).to_be_visible(timeout=60_000)
    notebook.screenshot("ranks_live")
    expect(cell.get_by_text("2 of 2 ranks, 10 collectives", exact=True)).to_be_visible(
        timeout=60_000
    )
    expect(cell.get_by_text(LINE).last).to_be_visible()
    notebook.screenshot("ranks")
    notebook.page.set_viewport_size({"width": 760, "height": 900})
    notebook.screenshot("ranks_narrow")
    notebook.page.set_viewport_size({"width": 1440, "height": 900})
    cell.get_by_role("button", name="rank 1", exact=True).click()
    view = GraphView(cell)
    view.wait_until_drawn()
    notebook.screenshot("ranks_graph")
