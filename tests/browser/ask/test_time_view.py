"""The view of time of a real training cell, compared with a clock and with the record."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import paddle
import pytest
from paddle.vision.models import resnet18
from playwright.sync_api import expect

import paddle_lab
from paddle_lab.analysis.time.spans import host_time
from tests.browser.graph_view import GraphView
from tests.browser.saved_page import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from paddle_lab.api import Trace


@pytest.fixture(scope="module")
def training() -> tuple[Trace, int]:
    """Two training steps of ResNet-18, and how long they took by a clock of the test."""
    net = resnet18(num_classes=4)
    optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
    images, labels = paddle.randn([2, 3, 32, 32]), paddle.to_tensor([1, 2])

    def train_step() -> None:
        loss = paddle.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    train_step()
    with paddle_lab.trace() as trace:
        begin_ns = time.perf_counter_ns()
        for _step in range(2):
            train_step()
            time.sleep(0.02)
        end_ns = time.perf_counter_ns()
    return trace, end_ns - begin_ns


@pytest.fixture
def page(browser: Browser, training: tuple[Trace, int], tmp_path: Path) -> Iterator[Page]:
    page, trouble = opened(browser, training[0].to_html(tmp_path / "page.html"))
    page.set_viewport_size({"width": 1440, "height": 900})
    GraphView(page.locator("body")).wait_until_drawn()
    page.click("[data-mode=time]")
    page.wait_for_selector(".pdl-icicle[data-drawn]")
    yield page
    assert trouble == []
    page.context.close()


def shown_ns(page: Page, name: str) -> int:
    return int(page.locator(".pdl-icicle").get_attribute(f"data-{name}-ns") or -1)


def select_op(page: Page, op: int) -> None:
    page.fill(".pdl-search-input", f"#{op}")
    page.press(".pdl-search-input", "Enter")
    page.focus(".pdl-icicle-pointer")


def stacks_inside(record: Any, stack: int, stacks: Any) -> Any:
    """Tell which of ``stacks`` are ``stack`` itself, or were called from ``stack``."""
    caller, at = record.stacks["caller"], np.array(stacks)
    found = at == stack
    while np.any(at >= 0):
        at = np.where(at >= 0, caller[at], -1)
        found |= at == stack
    return found


def test_the_root_lasts_as_long_as_the_cell(page: Page, training: tuple[Trace, int]) -> None:
    trace, clock_ns = training
    whole_ns = shown_ns(page, "total")
    assert whole_ns == trace.view_record.origin.duration_ns
    assert whole_ns == pytest.approx(clock_ns, rel=0.02)


def test_boxes_of_a_stack_last_as_long_as_the_record_says(
    page: Page, training: tuple[Trace, int]
) -> None:
    record = training[0].view_record
    times = host_time(record)
    spans, gaps = times.spans, times.gaps
    page.click("[data-nesting=stack]")
    names = [record.text(code) for code in record.ops["name"].tolist()]
    compared = 0
    for op in (names.index("conv2d"), names.index("momentum_"), names.index("linear")):
        select_op(page, op)
        stack = int(record.ops["stack"][op])
        alike = (spans.stack == stack) & (record.ops["name"][spans.op] == record.ops["name"][op])
        own_ns = spans.self_ns[alike & (spans.op >= 0) & (spans.thread == 0)].sum()
        expect(page.locator(".pdl-icicle")).to_have_attribute("data-cursor-ns", str(own_ns))
        # Go outwards, frame by frame. Paddle's frames that only call the next one have no box.
        expected = []
        while stack >= 0:
            inside_ns = spans.self_ns[stacks_inside(record, stack, spans.stack)].sum()
            is_here = stacks_inside(record, stack, gaps.stack)
            expected.append(int(inside_ns + (gaps.end_ns - gaps.start_ns)[is_here].sum()))
            stack = int(record.stacks["caller"][stack])
        while True:
            before = shown_ns(page, "cursor")
            page.keyboard.press("ArrowUp")
            page.wait_for_timeout(50)
            now = shown_ns(page, "cursor")
            if now == times.wall_ns:
                break
            assert now >= before
            assert now in expected
            compared += 1
    assert compared > 12


def test_click_zoom_and_back(page: Page, training: tuple[Trace, int]) -> None:
    record = training[0].view_record
    whole_ns = shown_ns(page, "total")
    icicle = page.locator(".pdl-icicle")
    # The widest box of the second row.
    page.focus(".pdl-icicle-pointer")
    page.keyboard.press("ArrowDown")
    widest_ns = shown_ns(page, "cursor")
    expect(page.locator(".pdl-tooltip:visible")).to_contain_text("of the cell")
    page.keyboard.press("Enter")
    expect(icicle).to_have_attribute("data-total-ns", str(widest_ns))
    expect(page.locator(".pdl-time-crumbs button")).to_have_count(2)
    page.keyboard.press("Backspace")
    expect(icicle).to_have_attribute("data-total-ns", str(whole_ns))
    # The slowest convolution, because a box narrower than a pixel is not drawn.
    names = np.array([record.text(code) for code in record.ops["name"].tolist()])
    slowest = int(np.argmax(np.where(names == "conv2d", record.ops["duration_ns"], 0)))
    select_op(page, slowest)
    page.keyboard.press("ArrowUp")
    status = page.locator(".pdl-status-selection")
    expect(status).not_to_contain_text("Click a box")
    for _ in status.inner_text().split("."):
        page.keyboard.press("ArrowUp")
    # The box of the whole net: its selection is the same in the graph.
    expect(status).to_contain_text("net")
    page.click("[data-mode=forward]")
    expect(page.locator("[role=treeitem][aria-selected=true]")).to_have_count(1)
    page.click("[data-mode=time]")
    page.fill(".pdl-search-input", "momentum_")
    found = record.ops["duration_ns"][names == "momentum_"].sum() / whole_ns
    shown = page.locator(".pdl-time [role=status]").first.text_content() or ""
    assert float(shown.split(", ")[1].split("%")[0]) == pytest.approx(100 * found, abs=0.51)


def test_the_picture_can_be_saved(page: Page) -> None:
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Save as SVG").click()
    text = download.value.path().read_text()
    assert text.startswith("<svg")
    assert "Tensor.backward ×2" in text
    assert "outside of Paddle" in text
    page.get_by_role("button", name="Export").or_(page.get_by_role("button", name="Done")).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Save as PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
