"""Filters of the search field on a real model in mixed precision, compared with the record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import paddle
import pytest
from playwright.sync_api import expect

import paddle_lab
from tests.browser.ask.asked_view import search, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from paddle_lab.analysis.tables.ops import Op
    from paddle_lab.api import Trace
    from tests.browser.graph_view import GraphView


class Mixed(paddle.nn.Layer):
    """A model in which a part computes in float64."""

    def __init__(self) -> None:
        super().__init__()
        self.first = paddle.nn.Linear(8, 64)
        self.second = paddle.nn.Linear(64, 64)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = paddle.nn.functional.relu(self.first(x))
        precise = x.astype("float64")
        precise = (precise * precise).cumsum(axis=1)
        return self.second(precise.astype("float32")).mean()


@pytest.fixture(scope="module")
def trace() -> Trace:
    net = Mixed()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    with paddle_lab.trace() as trace:
        net(paddle.randn([4, 8])).backward()
        optimizer.step()
    return trace


@pytest.fixture(scope="module")
def view(
    browser: Browser, trace: Trace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphView]:
    with view_of(browser, trace, tmp_path_factory.mktemp("filters")) as view:
        yield view


def dtypes(tensors: object) -> set[str]:
    return {tensor.dtype for tensor in tensors}  # type: ignore[attr-defined]


def shapes(op: Op) -> list[tuple[int, ...]]:
    return [tuple(tensor.shape) for tensor in (*op.inputs, *op.outputs)]


WANTED: dict[str, Callable[[Op], object]] = {
    "dtype:float64": lambda op: "float64" in dtypes((*op.inputs, *op.outputs)),
    "made-dtype:float64": lambda op: (
        op.inputs and "float64" in dtypes(op.outputs) and "float64" not in dtypes(op.inputs)
    ),
    "made-dtype:float32": lambda op: (
        op.inputs and "float32" in dtypes(op.outputs) and "float32" not in dtypes(op.inputs)
    ),
    "shape:[*,64]": lambda op: any(len(s) == 2 and s[1] == 64 for s in shapes(op)),
    "shape:[...,64]": lambda op: any(len(s) and s[-1] == 64 for s in shapes(op)),
    ">20us": lambda op: op.duration_ns > 20_000,
    "<20us": lambda op: op.duration_ns < 20_000,
    "phase:optimizer": lambda op: op.phase == "optimizer",
    "layer:second": lambda op: (op.layer or "").startswith("second"),
    "op:cast": lambda op: op.name == "cast",
    "dtype:float64 -op:cast": lambda op: (
        "float64" in dtypes((*op.inputs, *op.outputs)) and op.name != "cast"
    ),
    "relu -phase:optimizer": lambda op: op.name == "relu",
}


@pytest.mark.parametrize("query", WANTED)
def test_a_filter_finds_what_the_record_says(trace: Trace, view: GraphView, query: str) -> None:
    search(view, query)
    wanted = [op.key for op in trace.ops if WANTED[query](op)]
    assert wanted
    options = view.app.get_by_role("listbox").get_by_role("option").locator("small")
    found = [int(text.rpartition("#")[2]) for text in options.all_inner_texts()]
    count = view.app.locator(".pdl-search-count [role=status]").inner_text()
    assert int(count.replace("\u202f", "")) == len(wanted)
    assert found == wanted[:50]


def test_a_false_filter_offers_the_nearest_right_one(view: GraphView) -> None:
    search(view, "cast made-dtype:flaot64")
    listed = view.app.get_by_role("listbox")
    expect(listed).to_contain_text("No op of this trace makes flaot64 from other dtypes.")
    listed.get_by_role("option", name="made-dtype:float64").click()
    expect(view.app.get_by_role("combobox")).to_have_value("cast made-dtype:float64")
    expect(listed.get_by_role("option")).to_have_count(1)


def test_the_empty_field_shows_examples_for_the_pointer_and_the_keys(view: GraphView) -> None:
    field, listed = view.app.get_by_role("combobox"), view.app.get_by_role("listbox")
    search(view, "")
    field.blur()
    expect(listed).to_be_hidden()
    field.focus()
    expect(listed.get_by_role("option", name=re.compile("^made-dtype:float"))).to_be_visible()
    listed.get_by_role("option", name="phase:optimizer").click()
    expect(field).to_have_value("phase:optimizer")
    search(view, "")
    field.press("ArrowDown")
    field.press("ArrowDown")
    field.press("Enter")
    assert (field.input_value()).startswith("layer:")
    search(view, "")
    listed.get_by_role("button", name="Close the examples").click()
    field.blur()
    field.focus()
    expect(listed).to_be_hidden()
    field.press("ArrowDown")
    expect(listed).to_be_visible()
