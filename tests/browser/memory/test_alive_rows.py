"""The table of living blocks at a moment: its rows, and the selection that they share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.browser.graph_view import GraphView
from tests.browser.memory.memory_view import MemoryView
from tests.browser.memory.written_memory import MIB, many_blocks, many_ops
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from tests.browser.memory.conftest import MemoryPage, OpenPage


def test_many_blocks_are_read_aside_and_are_what_they_were(page_of: OpenPage) -> None:
    page, trouble = page_of(many_blocks())
    page.locator(".pdl-canvas > canvas").first.focus()
    page.keyboard.press("4")
    memory = MemoryView(page.locator(".pdl-app"))
    expect(memory.title).to_have_text("14 MiB alive at 80 µs")
    # The moment has the focus, although it did not exist yet when the memory was asked for.
    expect(memory.moment).to_be_focused()
    memory.expect_rows(
        [
            "net.weight parameter [3, 3] | 8 MiB | 57 % | 1",
            "matmul #1 net | 4 MiB | 29 % | 1",
            "MatmulGrad ↔ #1 net | 2 MiB | 14 % | 1",
        ]
    )
    page.keyboard.press("End")
    expect(memory.title).to_have_text("10 MiB alive at 600 µs")
    assert trouble == []


def test_rows_that_are_scrolled_to_are_those_of_the_moment(page_of: OpenPage) -> None:
    page, trouble = page_of(many_ops())
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    rows = memory.table.locator("tbody tr")
    expect(rows).to_have_count(100)
    expect(rows.last).to_contain_text("relu #50")
    expect(memory.table.locator("tfoot")).to_contain_text("50 more rows, 1.25 MiB")
    # Half of the ops have run. The rows below the visible ones have changed.
    page.mouse.click(*memory.point(0.4975, 0.99))
    expect(memory.title).to_contain_text("alive at 99")
    last = memory.table.evaluate("""async (table) => {
      const scroll = table.parentElement;
      scroll.scrollTop = scroll.scrollHeight;
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      return table.querySelector("tbody tr:last-child").innerText;
    }""")
    assert "relu #0" in last
    expect(rows).to_have_count(100)
    page.keyboard.press("Home")
    expect(rows).to_have_count(1)
    assert trouble == []


def test_a_block_and_its_op_are_one_selection(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    # At 30 µs: 8 MiB of parameter, 4 of activation, 1 of temporary, under 16 reserved.
    page.mouse.click(*memory.point(0.3, 10 / 17))
    expect(memory.title).to_have_text(re.compile("13 MiB alive at 30 µs"))
    expect(memory.panel).to_contain_text("4 MiB saved activation")
    expect(memory.panel.get_by_role("region", name="Call stack")).to_contain_text("line 2")
    memory.expect_selected_rows(["matmul #1"])
    graph = GraphView(page.locator("body"))
    graph.show("Forward")
    expect(graph.selected()).to_have_attribute("data-op", "1")
    # The op's page has a link back, where the op's three blocks are highlighted: two of its own,
    # one of its backward.
    page.keyboard.press("[")
    page.keyboard.press("]")
    expect(memory.panel).to_contain_text("7 MiB · 3 blocks")
    memory.panel.get_by_role("button", name="3 blocks").click()
    memory.expect_selected_rows(["matmul #1"])


@pytest.mark.parametrize("width", [480, 760, 1100])
def test_no_share_is_cut_off(page_of: OpenPage, width: int) -> None:
    w = RecordWriter()
    w.allocation(8 * MIB, kind="parameter", start_ns=-1)
    out = w.op("full")
    w.allocation(256, tensor=out, start_ns=10)
    page, _ = page_of(Trace(w.record()))
    page.set_viewport_size({"width": width, "height": 800})
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    memory.grouped_by("Kind")
    smallest = memory.table.locator("tbody .pdl-share", has_text="< 0.1 %")
    expect(smallest).to_be_visible()
    assert smallest.evaluate("share => share.scrollWidth <= share.clientWidth")
