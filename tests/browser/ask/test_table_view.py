"""The table in a page of a real training cell, compared with ``trace.table``."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paddle
import pandas as pd
import pytest
from paddle import nn
from playwright.sync_api import expect

import paddle_lab
from tests.browser.ask.asked_view import search, view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from paddle_lab.analysis.ranking.ranked_table import By
    from paddle_lab.api import Trace
    from tests.browser.graph_view import GraphView

COLUMNS = (
    "calls",
    "self_ns",
    "total_ns",
    "kernel_ns",
    "flops",
    "unknown_flops",
    "parameters",
    "parameter_bytes",
    "output_bytes",
    "saved_bytes",
)
OUTSIDE = {"layer": "outside layers", "turn": "outside loops", "line": "unknown line"}


class Doubled(paddle.autograd.PyLayer):
    """Runs ops inside its own op, in forward and in backward."""

    @staticmethod
    def forward(_ctx: Any, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.tanh(x) * 2

    @staticmethod
    def backward(_ctx: Any, gradient: paddle.Tensor) -> paddle.Tensor:
        return gradient * 2


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.norm = nn.BatchNorm1D(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = self.norm(self.words(x))
        # One parameter is read by two ops.
        return Doubled.apply(self.fc(self.fc(x))) @ self.words.weight.T


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Two epochs of two steps each; the loops are in each other. Then one graph runs twice."""
    net = Net()
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    with paddle_lab.trace(profile=True) as made:
        for _epoch in range(2):
            for _step in range(2):
                loss = nn.functional.cross_entropy(
                    net(paddle.arange(6)), paddle.arange(6).astype("int64")
                )
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
        loss = paddle.linalg.inv(net.fc(paddle.eye(8))).sum()
        loss.backward(retain_graph=True)
        loss.backward()
    return made


@pytest.fixture
def view(browser: Browser, trace: Trace, tmp_path: Path) -> Iterator[GraphView]:
    with view_of(browser, trace, tmp_path) as opened:
        opened.app.locator("[data-mode=table]").click()
        yield opened


def rows_by(view: GraphView, kind: str) -> list[dict[str, str]]:
    """Save the table as a file, as a person does, and read the file."""
    view.app.locator(f"[data-rows={kind}]").click()
    view.app.get_by_role("button", name="Export").click()
    with view.app.page.expect_download() as saved:
        view.app.get_by_role("menuitem", name="Save the table").click()
    with Path(saved.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def name_of(kind: str, row: dict[str, Any]) -> str:
    """The name of a row of ``trace.table`` as the page has it."""
    if pd.isna(next(iter(row.values()))):
        return OUTSIDE[kind]
    if kind == "line":
        return f"{Path(row['file']).name}, line {row['line']}"
    return f"{row['loop']} {row['number']} = {row['value']}" if kind == "turn" else str(row[kind])


def number(cell: Any) -> int:
    """Return a cell as a number; -1 if the value is unknown or the column is missing."""
    return -1 if cell in (None, "") or pd.isna(cell) else int(cell)


@pytest.mark.parametrize("kind", ["op", "layer", "line", "turn", "node"])
def test_the_page_and_python_have_the_same_rows(view: GraphView, trace: Trace, kind: By) -> None:
    def read(name: str, row: dict[str, Any]) -> list[Any]:
        # The page leaves out a column in which nothing is known, or nothing is missing.
        numbers = [(column, number(row.get(column, ""))) for column in COLUMNS]
        dtypes = "" if pd.isna(row["dtype"]) else row["dtype"]
        return [name, *numbers, sorted(filter(None, dtypes.split(", ")))]

    rows = trace.table(kind).to_pandas().to_dict("records")
    expected = sorted(read(name_of(kind, row), row) for row in rows)
    shown = sorted(read(row[kind], row) for row in rows_by(view, kind))
    assert len(expected) > 3
    assert shown == expected


def test_a_call_of_backward_is_a_row(view: GraphView, trace: Trace) -> None:
    view.app.locator("[data-rows=op]").click()
    row = view.app.get_by_role("row", name="Tensor.backward")
    row.click()
    expect(view.panel).to_contain_text("loss.backward()")
    # A search finds ops, so calls of backward are left out.
    search(view, "op:tanh")
    expect(row).to_have_count(0)
    expect(view.app.get_by_role("row", name="tanh")).to_have_count(1)
