"""The memory of a trace in a real browser: timeline, table, block map, and the one selection."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import notebook_of
from tests.browser.test_saved_pages import opened
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from tests.browser.conftest import OpenNotebook

MIB = 2**20
CELL = """\
import paddle, paddle_lab
net = paddle.nn.Sequential(paddle.nn.Linear(256, 512), paddle.nn.ReLU(), paddle.nn.Linear(512, 4))
adam = paddle.optimizer.Adam(parameters=net.parameters())
with paddle_lab.memory() as trace:
    for _ in range(2):
        net(paddle.ones([64, 256])).mean().backward()
        adam.step()
        adam.clear_grad()
"""


def written_steps() -> RecordWriter:
    """Write a parameter of 8 MiB, an activation of 4 MiB from 10 to 90 µs, a temporary of 1 MiB."""
    w = RecordWriter()
    w.row("sources", file="cell", cell=4, first_line=1, text="x = data()\ny = net(x)\n")
    with w.layer("net", "Linear"):
        weight = w.parameter("net.weight")
        x = w.op("full", line=1)
        y = w.op("matmul", x, weight, line=2)
    node = w.grad_node("MatmulGradNode", w.producer(y))
    w.backward(node)
    w.allocation(8 * MIB, tensor=weight, kind="parameter", start_ns=-1, address=0)
    w.allocation(4 * MIB, tensor=y, kind="saved_activation", start_ns=10_000, end_ns=90_000, line=2)
    op = w.producer(y)
    w.allocation(MIB, op=op, kind="temporary", start_ns=20_000, end_ns=40_000, line=2)
    w.allocation(2 * MIB, op=op, grad_node=node, kind="gradient", start_ns=80_000, phase="backward")
    w.memory_total(0, 8 * MIB, 16 * MIB)
    w.memory_total(100_000, 10 * MIB, 16 * MIB)
    w.step(95_000)
    w.holder(3, "variable", "net.weight.grad")
    return w


def steps() -> Trace:
    """Return the trace of them."""
    return Trace(written_steps().record())


def many_blocks() -> Trace:
    """Return the same, and after it more blocks than a page reads at once."""
    w = written_steps()
    for at in range(50_000):
        start_ns = 100_000 + at * 10
        w.allocation(256, op=1, kind="temporary", start_ns=start_ns, end_ns=start_ns + 5)
    return Trace(w.record())


def many_ops() -> Trace:
    """Return 150 ops that allocate more and more; what the first one made is freed at the end."""
    w = RecordWriter()
    for at in range(150):
        w.op("relu")
        end_ns = 180_000 if at == 0 else -1
        w.allocation((at + 1) * 1024, op=at, start_ns=at * 1000, end_ns=end_ns)
    w.memory_total(0, 0, 0)
    w.memory_total(200_000, 0, 0)
    return Trace(w.record())


class MemoryView:
    """The memory mode of a view; ``app`` is the view's root."""

    def __init__(self, app: Locator) -> None:
        self.app = app
        self.section = app.get_by_role("region", name="Memory")
        self.moment = app.get_by_role("slider", name="Moment")
        self.table = self.section.get_by_role("table")
        self.title = self.section.get_by_role("heading", level=3)
        self.panel = app.get_by_role("complementary", name="Details")

    def open(self) -> None:
        """Press Memory, and wait until the timeline is drawn."""
        self.app.get_by_role("group", name="Graph").get_by_role("button", name="Memory").click()
        expect(self.app.locator(".pdl-memory[data-state=ready]")).to_be_visible()
        expect(self.app.locator(".pdl-timeline[data-drawn]")).to_be_visible()

    def point(self, time_share: float, height_share: float) -> tuple[float, float]:
        """Return the place of a moment and a height in the window."""
        box = self.moment.bounding_box()
        assert box
        y = box["y"] + box["height"] * (1 - height_share)
        return box["x"] + box["width"] * time_share, y

    def brush(self, page: Page, start: float, end: float) -> None:
        """Drag over a span."""
        page.mouse.move(*self.point(start, 0.5))
        page.mouse.down()
        page.mouse.move(*self.point(end, 0.5), steps=5)
        page.mouse.up()

    def rows(self) -> list[str]:
        """Return the rows' texts, the parts of each joined by a bar."""
        return [
            " | ".join(text for text in row.locator("td").all_inner_texts() if text)
            for row in self.table.locator("tbody tr").all()
        ]

    def expect_rows(self, expected: list[str]) -> None:
        """Wait until these are the rows: the table is drawn with the page's next frame."""
        for _ in range(50):
            if self.rows() == expected:
                break
            self.table.page.wait_for_timeout(100)
        assert self.rows() == expected

    def grouped_by(self, name: str) -> None:
        """Press Op, Layer, Line or Kind."""
        self.section.get_by_role("group", name="Grouped by").get_by_role(
            "button", name=name
        ).click()

    def expect_selected_rows(self, names: list[str]) -> None:
        """Wait until the rows of these names, and no others, are selected."""
        expect(self.table.locator("[aria-selected=true] button")).to_have_text(names)


@pytest.fixture
def page_of(browser: Browser, tmp_path: Path) -> Callable[[Trace], tuple[Page, list[str]]]:
    """Open a trace's saved page."""

    def open_page(trace: Trace) -> tuple[Page, list[str]]:
        page, trouble = opened(browser, trace.to_html(tmp_path / "page.html"))
        expect(page.locator("#pdl-root[data-state=ready]")).to_be_visible()
        return page, trouble

    return open_page


@pytest.fixture
def memory_page(
    page_of: Callable[[Trace], tuple[Page, list[str]]],
) -> tuple[Page, MemoryView, list[str]]:
    """Open the memory of the two steps."""
    page, trouble = page_of(steps())
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    return page, memory, trouble


Memory = tuple["Page", MemoryView, list[str]]


def test_it_opens_at_the_peak_and_loads_nothing(memory_page: Memory, screenshots: Path) -> None:
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


def test_many_blocks_are_read_aside_and_are_what_they_were(
    page_of: Callable[[Trace], tuple[Page, list[str]]],
) -> None:
    page, trouble = page_of(many_blocks())
    page.locator(".pdl-canvas > canvas").first.focus()
    page.keyboard.press("4")
    memory = MemoryView(page.locator(".pdl-app"))
    expect(memory.title).to_have_text("14 MiB alive at 80 µs")
    # Keys go on to what they move, though there was nothing yet when the memory was asked for.
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


def test_rows_that_are_scrolled_to_are_those_of_the_moment(
    page_of: Callable[[Trace], tuple[Page, list[str]]],
) -> None:
    page, trouble = page_of(many_ops())
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    rows = memory.table.locator("tbody tr")
    expect(rows).to_have_count(100)
    expect(rows.last).to_contain_text("relu #50")
    expect(memory.table.locator("tfoot")).to_contain_text("50 more rows, 1.2 MiB")
    # 100 ops have run half way: those below the ones on screen are other rows now.
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


def test_a_block_and_its_op_are_one_selection(memory_page: Memory) -> None:
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
    # The op's page leads back, where its three blocks are lit: two of its own, one of its backward.
    page.keyboard.press("[")
    page.keyboard.press("]")
    expect(memory.panel).to_contain_text("7 MiB in 3 blocks")
    memory.panel.get_by_role("button", name="3 blocks").click()
    memory.expect_selected_rows(["matmul #1"])


def test_a_span_tells_its_peak_and_what_it_allocated(memory_page: Memory) -> None:
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


def test_the_keyboard_moves_the_moment(memory_page: Memory) -> None:
    page, memory, _ = memory_page
    memory.moment.focus()
    page.keyboard.press("Home")
    expect(memory.moment).to_have_attribute("aria-valuetext", "0 ns, 8 MiB alive")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(memory.moment).to_have_attribute("aria-valuetext", "20 µs, 13 MiB alive")
    page.keyboard.press("Shift+PageDown")
    expect(memory.section.get_by_text("peak of 10 µs")).to_be_visible()
    page.keyboard.press("Enter")
    timeline = memory.app.locator(".pdl-timeline")
    expect(timeline).to_have_attribute("data-span", re.compile(r"^19\d{3}"))
    page.keyboard.press("f")
    expect(timeline).to_have_attribute("data-span", "0 100000")
    page.keyboard.press("m")
    expect(memory.moment).to_have_attribute("aria-valuetext", "80 µs, 14 MiB alive")
    page.keyboard.press("1")
    expect(memory.section).to_be_hidden()
    page.keyboard.press("4")
    expect(memory.section).to_be_visible()


def test_the_overview_moves_what_is_shown(memory_page: Memory) -> None:
    page, memory, _ = memory_page
    timeline = memory.app.locator(".pdl-timeline")
    page.mouse.move(*memory.point(0.5, 0.2))
    page.mouse.wheel(0, -240)
    page.mouse.wheel(0, -240)
    expect(timeline).to_have_attribute("data-span", re.compile(r"^(2|3)\d{4}"))
    before = timeline.get_attribute("data-span")
    assert before
    overview = memory.app.locator(".pdl-timeline-overview").bounding_box()
    assert overview
    x, _ = memory.point(0.5, 0)
    y = overview["y"] + overview["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=6)
    page.mouse.up()
    expect(timeline).not_to_have_attribute("data-span", before)
    (start, end), (start_before, end_before) = (
        map(float, span.split()) for span in (timeline.get_attribute("data-span") or "", before)
    )
    assert start > start_before
    assert end - start == pytest.approx(end_before - start_before)


def test_addresses_and_holders(memory_page: Memory, screenshots: Path) -> None:
    page, memory, trouble = memory_page
    pages = memory.section.get_by_role("group", name="Memory")
    pages.get_by_role("button", name="By address").click()
    expect(memory.section).to_contain_text("16 MiB reserved")
    expect(memory.section.get_by_role("slider", name="Block by address")).to_be_visible()
    page.screenshot(path=screenshots / "memory_map.png")
    pages.get_by_role("button", name="Still alive").click()
    held = memory.section.locator("details", has_text="net.weight.grad")
    expect(held).to_contain_text("2 MiB")
    held.get_by_role("button", name="2 MiB gradient").click()
    expect(memory.panel.get_by_role("heading", name="Held by")).to_be_visible()
    assert trouble == []


def test_the_map_of_addresses_has_keys(memory_page: Memory) -> None:
    page, memory, _ = memory_page
    memory.section.get_by_role("button", name="By address").click()
    blocks = memory.section.get_by_role("slider", name="Block by address")
    expect(blocks).to_have_attribute("aria-valuetext", "no block")
    blocks.focus()
    page.keyboard.press("ArrowRight")
    expect(blocks).to_have_attribute("aria-valuetext", re.compile("^parameter · 8 MiB .* 0x0$"))
    page.keyboard.press("End")
    expect(blocks).to_have_attribute("aria-valuetext", re.compile("^gradient · 2 MiB"))
    expect(memory.panel).to_contain_text("2 MiB gradient")
    page.keyboard.press("ArrowLeft")
    expect(blocks).to_have_attribute("aria-valuetext", re.compile("^saved activation · 4 MiB"))


def test_names_that_hold_the_same_blocks_are_one_row(
    page_of: Callable[[Trace], tuple[Page, list[str]]],
) -> None:
    w = RecordWriter()
    block = w.allocation(8 * MIB, kind="parameter", start_ns=-1)
    w.holder(block, "container", "net.weight")
    w.holder(block, "container", "adam._parameter_list[0]")
    page, _ = page_of(Trace(w.record()))
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    memory.section.get_by_role("button", name="Still alive").click()
    expect(memory.section).to_contain_text("8 MiB alive at the end, by who holds it")
    (row,) = memory.section.locator("summary").all()
    expect(row).to_have_text("net.weightalso adam._parameter_list[0]8 MiB1 block")


COLOURS_OF = """async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const counts = {};
  for (let at = 0; at < data.length; at += 4) {
    const colour = [0, 1, 2].map((i) => data[at + i].toString(16).padStart(2, "0")).join("");
    counts[colour] = (counts[colour] ?? 0) + 1;
  }
  return [image.width, image.height, counts];
}"""
PARAMETER, GROUND = "2a9465", "ffffff"


def test_what_is_exported_is_what_is_shown(memory_page: Memory, screenshots: Path) -> None:
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
    # The parameter is most of what is alive, and its block as wide as the run.
    assert counts[PARAMETER] > 0.1 * width * height
    assert counts[GROUND] > 0.1 * width * height
    memory.app.get_by_role("group", name="Graph").get_by_role("button", name="Forward").click()
    menu.click()
    expect(memory.app.get_by_role("menuitem", name="Save as SVG")).to_be_visible()
    assert trouble == []


def test_a_narrow_view_cuts_nothing_off(memory_page: Memory) -> None:
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
def test_labels_keep_apart_and_inside(memory_page: Memory, width: int) -> None:
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
            # Where one is not to the right of the other, the figure was drawn anew.
            assert after["left"] <= before["left"] or after["left"] > before["right"] + 6
        frame_left = 66
        named = [text for text in texts if text["text"] in {"forward", "backward"}]
        assert all(frame_left <= text["left"] for text in named)
        phases |= {text["text"] for text in named}
    # Far inside of a span it is still said which one it is.
    assert phases


def test_a_trace_without_memory_has_no_such_mode(
    page_of: Callable[[Trace], tuple[Page, list[str]]],
) -> None:
    w = RecordWriter()
    w.op("full")
    page, _ = page_of(Trace(w.record()))
    expect(page.get_by_role("button", name="Forward")).to_be_visible()
    expect(page.get_by_role("button", name="Memory")).to_have_count(0)
    assert page.evaluate("globalThis.Bokeh === undefined")


def test_without_a_kernel_it_is_still_the_memory_that_shows(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of(CELL, 'trace.widget(view="memory")'))
    notebook.run_all()
    notebook.save()
    notebook.leave()
    again = notebook.reopened(kernel=False)
    memory = MemoryView(again.cell(1).locator(".pdl-app"))
    expect(memory.app.locator(".pdl-timeline[data-drawn]")).to_be_visible()


def test_it_is_drawn_in_a_notebook(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of(CELL, 'trace.widget(view="memory")'))
    notebook.run_all()
    assert notebook.errors() == []
    memory = MemoryView(notebook.cell(1).locator(".pdl-app"))
    notebook.screenshot("memory")
    expect(memory.app.locator(".pdl-timeline[data-drawn]")).to_be_visible()
    assert int(memory.app.locator(".pdl-timeline").get_attribute("data-drawn") or 0) > 4
    expect(memory.table).to_contain_text("parameter")
    memory.table.get_by_role("button", name=re.compile("Grad")).first.click()
    expect(memory.panel).to_contain_text("allocated")
