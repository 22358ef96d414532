"""Isolating a part of a real model's graph, compared with networkx."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import networkx as nx
import paddle
import pytest
from paddle.vision.models import resnet18
from playwright.sync_api import expect

import paddle_lab
from tests.browser.ask.asked_view import open_all, search, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from paddle_lab.api import Trace
    from tests.browser.graph_view import GraphView


@pytest.fixture(scope="module")
def resnet() -> Trace:
    """A training step of ResNet-18."""
    net = resnet18(num_classes=4)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    images, labels = paddle.randn([1, 3, 32, 32]), paddle.to_tensor([1])
    with paddle_lab.trace() as trace:
        loss = paddle.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
    return trace


@pytest.fixture(scope="module")
def view(
    browser: Browser, resnet: Trace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphView]:
    with view_of(browser, resnet, tmp_path_factory.mktemp("isolation")) as view:
        yield view


def op_named(trace: Trace, name: str, layer: str) -> int:
    graph = trace.graph()
    return next(
        key
        for key, op in graph.nodes(data=True)
        if op["name"] == name and (op["layer"] or "").startswith(layer)
    )


def choose(view: GraphView, op: int) -> None:
    """Find an op by its key, and give the focus to the picture."""
    search(view, f"#{op}")
    view.app.get_by_role("combobox").press("Enter")
    view.wait_until_drawn()
    view.canvas.focus()


def shown(view: GraphView, attribute: str = "data-op") -> set[int]:
    """Keys in the picture with everything open."""
    open_all(view)
    rows = view.outline.locator(f"[{attribute}]")
    return {
        int(key)
        for key in rows.evaluate_all(f"rows => rows.map(r => r.getAttribute('{attribute}'))")
    }


def forward_ops(trace: Trace) -> set[int]:
    return {key for key, phase in trace.graph().nodes(data="phase") if phase == "forward"}


def bar(view: GraphView) -> str:
    return view.app.locator(".pdl-isolation").inner_text()


@pytest.mark.parametrize(("key", "walk"), [("u", nx.ancestors), ("d", nx.descendants)])
def test_what_is_left_is_what_networkx_finds(
    resnet: Trace, view: GraphView, key: str, walk: Callable[..., set[int]]
) -> None:
    op = op_named(resnet, "add", "layer2.0")
    choose(view, op)
    view.canvas.press(key)
    wanted = ({op} | walk(resnet.graph(), op)) & forward_ops(resnet)
    everything = len(forward_ops(resnet))
    assert 10 < len(wanted) < everything - 10
    assert f"{len(wanted)} of {everything} ops" in bar(view)
    assert shown(view) == wanted
    view.canvas.press("Escape")
    expect(view.app.locator(".pdl-isolation")).to_be_hidden()
    assert shown(view) == forward_ops(resnet)


def test_the_way_between_two_ops_is_every_path(resnet: Trace, view: GraphView) -> None:
    start, end = op_named(resnet, "conv2d", "layer2.0.conv1"), op_named(resnet, "add", "layer2.1")
    choose(view, start)
    view.canvas.press("w")
    assert "select the other end" in bar(view)
    choose(view, end)
    graph = resnet.graph()
    wanted = {start, end} | (nx.descendants(graph, start) & nx.ancestors(graph, end))
    assert shown(view) == wanted
    view.canvas.press("Control+z")
    view.canvas.press("Escape")


def test_a_layer_is_left_with_its_direct_neighbours(resnet: Trace, view: GraphView) -> None:
    graph = resnet.graph()
    inside = {
        key for key, layer in graph.nodes(data="layer") if re.match(r"layer3\.0(\.|$)", layer or "")
    }
    choose(view, op_named(resnet, "add", "layer3.0"))
    view.canvas.press("l")
    beside = {end for op in inside for end in (*graph.predecessors(op), *graph.successors(op))}
    assert shown(view) == (inside | beside) & forward_ops(resnet)
    view.canvas.press("Escape")


def test_in_the_backward_picture_the_way_goes_along_gradients(
    resnet: Trace, view: GraphView
) -> None:
    op = op_named(resnet, "add", "layer2.0")
    graph = resnet.graph("backward", call=0)
    node = next(key for key, made in graph.nodes(data="op") if made == op)
    choose(view, op)
    view.canvas.press("p")
    view.show("Backward")
    view.canvas.focus()
    view.canvas.press("d")
    inner = {key for key, parameter in graph.nodes(data="parameter") if parameter is None}
    leafless = {key for key in inner if graph.out_degree(key)}
    wanted = ({node} | nx.descendants(graph, node)) & leafless
    assert shown(view, "data-grad-node") == wanted
    view.show("Ladder")
    assert shown(view) >= {graph.nodes[key]["op"] for key in wanted} - {None}
    view.canvas.focus()
    view.canvas.press("Escape")
    view.show("Forward")


def test_the_panel_isolates_too(resnet: Trace, view: GraphView) -> None:
    op = op_named(resnet, "relu", "layer1.1")
    choose(view, op)
    view.panel.get_by_role("button", name="after", exact=False).first.click()
    wanted = ({op} | nx.descendants(resnet.graph(), op)) & forward_ops(resnet)
    assert f"{len(wanted)} of" in bar(view)
    view.app.get_by_role("button", name="Show all").click()
    view.panel.get_by_role("button", name="before", exact=False).first.press("Enter")
    assert "all it depends on" in bar(view)
    view.canvas.press("Escape")
    expect(view.app.locator(".pdl-isolation")).to_be_hidden()
