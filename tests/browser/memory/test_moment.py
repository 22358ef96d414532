"""Choosing a moment or a span in the timeline, by mouse and by keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.memory.conftest import MemoryPage, OpenPage


# Role, or tag where there is none, and name of what has the focus, inside of shadow roots too.
FOCUSED = """() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return [focused.getAttribute("role") ?? focused.tagName, focused.getAttribute("aria-label")];
}"""


def test_it_opens_at_the_peak_and_loads_nothing(memory_page: MemoryPage, screenshots: Path) -> None:
    page, memory, trouble = memory_page
    expect(memory.title).to_have_text("14 MiB alive at 80 µs")
    expect(memory.section.get_by_text("the peak · 3 blocks")).to_be_visible()
    memory.expect_rows(
        [
            "net.weight parameter [3, 3] | 8 MiB | 57 % | 1",
            "matmul #1 net | 4 MiB | 29 % | 1",
            "MatmulGrad ↔ #1 net | 2 MiB | 14 % | 1",
        ]
    )
    expect(memory.app.locator(".pdl-timeline")).to_have_attribute("data-drawn", "4")
    page.screenshot(path=screenshots / "memory_page.png")
    assert trouble == []


def test_a_span_tells_its_peak_and_what_it_allocated(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    memory.brush(page, 0.15, 0.5)
    expect(memory.title).to_have_text("13 MiB alive at 20 µs")
    memory.grouped_by("Kind")
    memory.expect_rows(
        [
            "parameter | 8 MiB | 62 % | 1 | 0 B",
            "saved activation | 4 MiB | 31 % | 1 | 0 B",
            "temporary | 1 MiB | 7.7 % | 1 | 1 MiB",
        ]
    )
    memory.table.get_by_role("button", name="Allocated").click()
    expect(memory.table.locator("tbody tr").first).to_contain_text("temporary")
    memory.grouped_by("Line")
    expect(memory.table).to_contain_text("y = net(x)")


def test_the_keyboard_moves_the_moment(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    memory.moment.focus()
    page.keyboard.press("Home")
    expect(memory.moment).to_have_attribute("aria-valuetext", "8 MiB alive at 0 ns")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(memory.moment).to_have_attribute("aria-valuetext", "13 MiB alive at 20 µs")
    page.keyboard.press("Shift+PageDown")
    expect(memory.section.get_by_text("the peak of a span of 10 µs")).to_be_visible()
    page.keyboard.press("Enter")
    timeline = memory.app.locator(".pdl-timeline")
    expect(timeline).to_have_attribute("data-span", re.compile(r"^19\d{3}"))
    page.keyboard.press("f")
    expect(timeline).to_have_attribute("data-span", "0 100000")
    page.keyboard.press("m")
    expect(memory.moment).to_have_attribute("aria-valuetext", "14 MiB alive at 80 µs")
    page.keyboard.press("1")
    expect(memory.section).to_be_hidden()
    page.keyboard.press("4")
    expect(memory.section).to_be_visible()


def test_the_wheel_zooms_and_shift_drag_moves_what_is_shown(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    timeline = memory.app.locator(".pdl-timeline")
    x, y = memory.point(0.5, 0.2)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -240)
    page.mouse.wheel(0, -240)
    expect(timeline).to_have_attribute("data-span", re.compile(r"^(2|3)\d{4}"))
    before = timeline.get_attribute("data-span")
    assert before
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=6)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(timeline).not_to_have_attribute("data-span", before)
    (start, end), (start_before, end_before) = (
        map(float, span.split()) for span in (timeline.get_attribute("data-span") or "", before)
    )
    assert start > start_before
    assert end - start == pytest.approx(end_before - start_before)


def test_a_trace_without_memory_has_no_such_mode(page_of: OpenPage) -> None:
    w = RecordWriter()
    w.op("full")
    page, _ = page_of(Trace(w.record()))
    expect(page.get_by_role("button", name="Forward")).to_be_visible()
    expect(page.get_by_role("button", name="Memory")).to_have_count(0)
    assert page.evaluate("globalThis.Bokeh === undefined")


def test_tab_stops_only_where_something_shows_and_answers(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    memory.app.get_by_role("group", name="Graph").get_by_role("button", name="Memory").focus()
    stops = []
    for _ in range(20):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(FOCUSED))
    assert ["slider", "Moment"] in stops
    assert [stop for stop in stops if stop[0] in {"treeitem", "DIV"}] == []


def test_the_focus_goes_from_the_graph_s_outline_to_the_timeline(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    memory.app.get_by_role("group", name="Graph").get_by_role("button", name="Forward").click()
    memory.app.get_by_role("treeitem").first.focus()
    page.keyboard.press("4")
    expect(memory.moment).to_be_focused()
