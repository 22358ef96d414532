"""The appearance of the timeline: its export, its labels, a narrow view."""

from __future__ import annotations

import base64
import csv
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.browser.memory.memory_view import COLOURS_OF, MemoryView
from tests.browser.memory.written_memory import MIB
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.memory.conftest import MemoryPage, OpenPage

PARAMETER, GROUND = "2a9465", "ffffff"


def test_what_is_exported_is_what_is_shown(memory_page: MemoryPage, screenshots: Path) -> None:
    page, memory, trouble = memory_page
    menu = memory.app.get_by_role("button", name="Export")
    menu.click()
    expect(memory.app.get_by_role("menuitem", name="Save as SVG")).to_have_count(0)
    with page.expect_download() as download:
        memory.app.get_by_role("menuitem", name="Save as PNG").click()
    assert download.value.suggested_filename == "cell-4-memory.png"
    path = screenshots / "memory_export.png"
    download.value.save_as(path)
    picture = base64.b64encode(path.read_bytes()).decode()
    width, height, counts = page.evaluate(COLOURS_OF, picture)
    # The parameter takes most of the living memory, and its block is as wide as the run.
    assert counts[PARAMETER] > 0.1 * width * height
    assert counts[GROUND] > 0.1 * width * height
    memory.app.get_by_role("group", name="Graph").get_by_role("button", name="Forward").click()
    menu.click()
    expect(memory.app.get_by_role("menuitem", name="Save as SVG")).to_be_visible()
    assert trouble == []


def test_what_was_alive_is_saved_as_the_table_has_it(memory_page: MemoryPage) -> None:
    page, memory, trouble = memory_page
    memory.app.get_by_role("button", name="Line", exact=True).click()
    memory.app.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        memory.app.get_by_role("menuitem", name="Save what was alive as CSV").click()
    assert download.value.suggested_filename == "cell-4-memory.csv"
    names, *rows = csv.reader(download.value.path().read_text("utf-8-sig").splitlines())
    assert names == ["line", "note", "bytes", "share", "blocks"]
    shown = memory.app.get_by_role("region", name="Alive in this moment").locator("tbody tr")
    expect(shown).to_have_count(len(rows))
    for row, cells in zip(shown.all(), rows, strict=True):
        expect(row).to_contain_text(cells[0])
    sizes = [int(row[2]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(float(row[3]) for row in rows) == pytest.approx(1)
    assert trouble == []


def test_the_view_menu_has_nothing_of_the_graph_s(memory_page: MemoryPage) -> None:
    _, memory, _ = memory_page
    memory.app.get_by_role("button", name="View", exact=True).click()
    outline = memory.app.get_by_role("menuitemcheckbox", name="Outline")
    expect(outline).to_be_visible()
    expect(memory.app.get_by_role("menuitem", name="Open all groups")).to_have_count(0)
    outline.click()
    expect(memory.app.get_by_role("tree", name="Outline of the graph")).to_be_visible()


def test_a_narrow_view_cuts_nothing_off(memory_page: MemoryPage) -> None:
    page, memory, _ = memory_page
    page.set_viewport_size({"width": 400, "height": 900})
    kinds = memory.app.get_by_role("group", name="Kinds")
    expect(kinds.get_by_role("button", name=re.compile("^gradient"))).to_be_visible()
    page.wait_for_function(
        "kinds => kinds.scrollWidth <= kinds.clientWidth", arg=kinds.element_handle()
    )


# Notes every text that is drawn from now on: what it says, and where it lies on its canvas.
WATCH_TEXTS = """() => {
  window.texts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    fillText.call(this, text, x, y);
    const { a, e } = this.getTransform();
    const { actualBoundingBoxLeft, actualBoundingBoxRight } = this.measureText(text);
    const [left, right] = [x - actualBoundingBoxLeft, x + actualBoundingBoxRight];
    const width = this.canvas.width;
    texts.push({ text, left: e + a * left, right: e + a * right, width });
  };
}"""


@pytest.mark.parametrize("width", [480, 700, 1000])
def test_labels_keep_apart_and_inside(memory_page: MemoryPage, width: int) -> None:
    page, memory, _ = memory_page
    page.set_viewport_size({"width": width, "height": 760})
    page.evaluate(WATCH_TEXTS)
    memory.moment.focus()
    phases = set()
    for _ in range(12):
        page.evaluate("texts.length = 0")
        page.keyboard.press("+")
        page.wait_for_timeout(200)
        texts = page.evaluate("texts")
        times = [text for text in texts if re.search(r"\d [nµm]?s$", text["text"])]
        assert times
        assert all(text["left"] >= 0 and text["right"] <= text["width"] for text in times)
        for before, after in pairwise(times):
            # If a text is not to the right of the other, the figure was drawn again.
            assert after["left"] <= before["left"] or after["left"] > before["right"] + 6
        frame_left = 66
        named = [text for text in texts if text["text"] in {"forward", "backward"}]
        assert all(frame_left <= text["left"] for text in named)
        phases |= {text["text"] for text in named}
    # Far inside a span, the name of the span is still shown.
    assert phases


def test_the_names_of_phases_keep_clear_of_the_peak(page_of: OpenPage) -> None:
    w = RecordWriter()
    out = w.op("full")
    w.allocation(MIB, tensor=out, start_ns=0)
    # The peak comes soon after backward has begun, as in most programs.
    w.allocation(MIB, tensor=out, kind="gradient", start_ns=50_000, phase="backward")
    w.allocation(MIB, tensor=out, start_ns=54_000, end_ns=58_000, phase="backward")
    w.memory_total(0, 0, 0)
    w.memory_total(100_000, 2 * MIB, 0)
    page, _ = page_of(Trace(w.record()))
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    page.evaluate(WATCH_TEXTS)
    memory.moment.focus()
    page.keyboard.press("+")
    page.keyboard.press("f")
    page.wait_for_timeout(300)
    texts = page.evaluate("texts")
    name = next(text for text in reversed(texts) if text["text"] == "backward")
    peak = next(text for text in reversed(texts) if text["text"] == "▼")
    assert name["left"] > peak["right"] or name["right"] < peak["left"]


def test_memory_from_before_the_trace_does_not_flatten_the_rest(page_of: OpenPage) -> None:
    w = RecordWriter()
    w.allocation(MIB, tensor=w.op("full"), start_ns=50_000)
    w.memory_total(0, 200 * MIB, 0)
    w.memory_total(100_000, 201 * MIB, 0)
    page, _ = page_of(Trace(w.record()))
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    page.evaluate(WATCH_TEXTS)
    memory.moment.focus()
    page.keyboard.press("f")
    page.wait_for_timeout(300)
    texts = {text["text"] for text in page.evaluate("texts")}
    assert {"200 MiB", "+512 KiB", "+1 MiB"} <= texts
