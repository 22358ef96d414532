"""A cell that runs again leaves nothing of its earlier runs, in a kernel without a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

_LIMIT_S = 120

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
    return {kind: names.count(kind) for kind in kinds}
"""
COUNT = """kinds = "Trace", "Record", "GraphWidget", "LiveMemory", "HBox"
print(json.dumps(alive(*kinds) | {"open": len(ipywidgets.widgets.widget._instances)}))"""

CELLS = {
    "trace": "%%paddle_trace\nnet()",
    "trace and name": "%%paddle_trace -o kept\nnet()",
    "mem": "%%paddle_mem\nnet()\npaddle.ones([256, 256])",
    "with": "with paddle_lab.trace() as kept:\n    net()\ndisplay(kept)",
    "loop": """for turn in range(3):
    with paddle_lab.trace() as kept:
        net()
    clear_output()
    display(kept)""",
    "chart": "%paddle_mem\nnet()\n%paddle_mem off",
    "widget": "with paddle_lab.trace() as kept:\n    net()\nwidget = kept.widget()",
}


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """One kernel for all tests. The next test has what a test leaves behind, before and after."""
    manager, client = start_new_kernel()
    try:
        run(client, SETUP)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(kernel: Any, code: str, *, cell: str | None = None, deleted: tuple[str, ...] = ()) -> str:
    """Run code as a page does that distinguishes its cells. Return what the code printed."""
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    metadata = {} if cell is None else {"cellId": cell, "deletedCells": list(deleted)}
    request = kernel.session.msg("execute_request", content, metadata=metadata)
    kernel.shell_channel.send(request)
    printed = ""
    while True:
        message = kernel.get_iopub_msg(timeout=_LIMIT_S)
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            continue
        kind, told = message["msg_type"], message["content"]
        assert kind != "error", told
        if kind == "stream" and told["name"] == "stdout":
            printed += told["text"]
        if kind == "status" and told["execution_state"] == "idle":
            return printed


def counts(kernel: Any) -> dict[str, int]:
    found: dict[str, int] = json.loads(run(kernel, COUNT, cell="count"))
    return found


@pytest.mark.parametrize("name", CELLS)
def test_the_third_run_leaves_what_the_first_left(kernel, name):
    run(kernel, CELLS[name], cell="7")
    first = counts(kernel)
    for _ in range(2):
        run(kernel, CELLS[name], cell="7")
    assert counts(kernel) == first


def test_without_cell_ids_the_same_text_is_the_same_cell(kernel):
    run(kernel, CELLS["trace"])
    first = counts(kernel)
    run(kernel, CELLS["trace"])
    run(kernel, CELLS["trace"])
    assert counts(kernel) == first


def test_a_deleted_cell_leaves_its_latest_trace_alone(kernel):
    first = counts(kernel)
    run(kernel, CELLS["trace"], cell="to be deleted")
    assert counts(kernel)["GraphWidget"] == first["GraphWidget"] + 1
    run(kernel, "1", cell="11", deleted=("to be deleted",))
    assert counts(kernel) == first
    assert "ops" in run(kernel, "print(repr(_trace))", cell="10")


def test_what_has_a_name_or_another_cell_is_kept(kernel):
    run(kernel, "%%paddle_trace -o kept\nnet()", cell="7")
    run(kernel, "widget = kept.widget()\nwidget", cell="8")
    run(kernel, "widget", cell="9")
    run(kernel, "%%paddle_trace\nnet()", cell="7")
    run(kernel, "1", cell="8")
    is_open = "print(widget.comm is not None, len(kept.ops) > 0, kept is _trace)"
    assert run(kernel, is_open, cell="10") == "True True False\n"
    run(kernel, "1", cell="9")
    assert run(kernel, is_open, cell="10") == "False True False\n"


def test_a_widget_that_was_closed_is_opened_where_it_is_displayed_again(kernel):
    run(kernel, "with paddle_lab.trace() as kept:\n    net()\nwidget = kept.widget()", cell="7")
    run(kernel, "display(widget)\nmodel = widget.model_id", cell="8")
    run(kernel, "1", cell="7")
    run(kernel, "1", cell="8")
    assert run(kernel, "print(widget.comm)", cell="10") == "None\n"
    run(kernel, "widget", cell="8")
    again = "print(ipywidgets.widgets.widget._instances[model] is widget)"
    assert run(kernel, again, cell="10") == "True\n"


def test_a_widget_in_a_box_is_kept(kernel):
    run(kernel, "with paddle_lab.trace() as kept:\n    net()\nbox = [kept.widget()]", cell="7")
    run(kernel, "box = ipywidgets.VBox(box)\nbox", cell="8")
    run(kernel, "1", cell="7")
    assert run(kernel, "print(box.children[0].comm is not None)", cell="10") == "True\n"
