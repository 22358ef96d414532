"""Boxes of a real model coloured by a quantity: in the saved picture, compared with the record."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import paddle
import pytest
from playwright.sync_api import expect

import paddle_lab
from tests.browser.ask.asked_view import open_all, search, view_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from paddle_lab.api import Trace
    from tests.browser.graph_view import GraphView

FLOAT32, FLOAT64, INT64 = "#56b4e9", "#0072b2", "#009e73"


@pytest.fixture(scope="module")
def trace() -> Trace:
    """A Transformer layer with a part in float64, and its backward with gradients."""
    layer = paddle.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
    with paddle_lab.trace(grads=True) as trace:
        y = layer(paddle.randn([2, 6, 16])).astype("float64")
        (y * y).mean().backward()
        y.argmax(axis=-1)
    return trace


@pytest.fixture
def view(browser: Browser, trace: Trace, tmp_path: Path) -> Iterator[GraphView]:
    with view_of(browser, trace, tmp_path) as view:
        yield view


def colour_by(view: GraphView, name: str) -> None:
    view.app.get_by_role("button", name="Colour", exact=True).click()
    view.app.get_by_role("menuitemradio", name=name).click()
    view.wait_until_drawn()


def saved(view: GraphView, folder: Path) -> str:
    """The picture as it is saved: SVG."""
    view.app.get_by_role("button", name="Export", exact=True).click()
    with view.app.page.expect_download() as download:
        view.app.get_by_role("menuitem", name="Save as SVG").click()
    download.value.save_as(folder / "picture.svg")
    return (folder / "picture.svg").read_text("utf-8")


def words(picture: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


def test_boxes_have_the_colours_of_their_dtypes(
    trace: Trace, view: GraphView, tmp_path: Path
) -> None:
    open_all(view)
    colour_by(view, "Dtype")
    picture = saved(view, tmp_path)
    wanted = Counter(op.outputs[0].dtype for op in trace.ops)
    assert set(wanted) == {"float32", "float64", "int64"}
    fills = Counter(re.findall(r'fill="(#\w{6})"', picture))
    for dtype, colour in (("float32", FLOAT32), ("float64", FLOAT64), ("int64", INT64)):
        # One more is in the legend.
        assert fills[colour] == wanted[dtype] + 1, dtype
        assert dtype in words(picture)


def test_a_closed_group_has_the_sum_of_the_host_times_in_it(
    trace: Trace, view: GraphView, tmp_path: Path
) -> None:
    view.app.get_by_role("button", name="Close all").evaluate("button => button.click()")
    view.wait_until_drawn()
    colour_by(view, "Host time")
    inside = [op.duration_ns for op in trace.ops if op.layer]
    picture = words(saved(view, tmp_path))
    shown = next(value for label, value in pairwise(picture) if label == "layer")
    number, unit = re.match(r"([\d.]+) (µs|ms)", shown).groups()  # type: ignore[union-attr]
    assert float(number) * {"µs": 1e3, "ms": 1e6}[unit] == pytest.approx(sum(inside), rel=0.06)
    legend = next(text for text in picture if text.startswith("Host time"))
    assert "closed groups: sum" in legend
    expect(view.app.locator(".pdl-colour-legend")).to_contain_text("closed groups: sum")


def test_grad_nodes_have_the_norms_that_were_recorded(
    trace: Trace, view: GraphView, tmp_path: Path
) -> None:
    squares: dict[int, float] = {}
    for gradient in trace.gradients:
        if gradient.grad_edge is not None:
            node = gradient.source_node
            squares[node] = squares.get(node, 0.0) + gradient.norm**2
    graph = trace.graph("backward", call=0)
    wanted = [(graph.nodes[node]["name"], sum_**0.5) for node, sum_ in squares.items()]

    view.show("Backward")
    open_all(view)
    view.app.get_by_role("button", name="View", exact=True).click()
    view.app.get_by_role("menuitemcheckbox", name="norms").click()
    colour_by(view, "Gradient norm")
    picture = words(saved(view, tmp_path))
    boxes = [
        (label, float(value[1:].partition("‖")[0].replace("−", "-")))
        for label, value in pairwise(picture)
        if label.endswith("Grad") and value.startswith("‖")
    ]
    assert len(boxes) > 8
    for label, value in boxes:
        norms = [norm for name, norm in wanted if name.startswith(label)]
        assert any(value == pytest.approx(norm, rel=0.05) for norm in norms), label


def test_what_was_not_recorded_is_offered_with_the_option_that_records_it(
    view: GraphView,
) -> None:
    view.app.get_by_role("button", name="Colour", exact=True).click()
    item = view.app.get_by_role("menuitemradio", name="NaN share")
    expect(item).to_be_disabled()
    expect(item).to_contain_text("needs --values")


def test_the_tooltip_says_the_value_and_what_is_not_known(view: GraphView) -> None:
    view.show("Ladder")
    colour_by(view, "Host time")
    expect(view.app.locator(".pdl-colour-legend")).to_contain_text("not known")
    search(view, "op:argmax")
    view.app.get_by_role("combobox").press("Enter")
    view.wait_until_drawn()
    centre, camera = (
        [float(number) for number in (of.get_attribute(name) or "").split()]
        for of, name in ((view.selected(), "data-centre"), (view.canvas, "data-camera"))
    )
    view.canvas.hover(
        position={"x": camera[0] + centre[0] * camera[2], "y": camera[1] + centre[1] * camera[2]}
    )
    expect(view.app.locator(".pdl-tooltip")).to_contain_text(re.compile(r"Host time: [\d.]+ [µm]s"))
