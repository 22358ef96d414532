"""Blocks by address, and living blocks by holder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from paddle_lab.api import Trace
from tests.browser.memory.memory_view import MemoryView
from tests.browser.memory.written_memory import MIB
from tests.trace.records import RecordWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.memory.conftest import MemoryPage, OpenPage


def test_addresses_and_holders(memory_page: MemoryPage, screenshots: Path) -> None:
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


def test_the_map_of_addresses_has_keys(memory_page: MemoryPage) -> None:
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


def test_names_that_hold_the_same_blocks_are_one_row(page_of: OpenPage) -> None:
    w = RecordWriter()
    block = w.allocation(8 * MIB, kind="parameter", start_ns=-1)
    name = "net.blocks.0.attention.query.weight"
    w.holder(block, "container", name)
    w.holder(block, "container", "adam._parameter_list[0]")
    page, _ = page_of(Trace(w.record()))
    memory = MemoryView(page.locator(".pdl-app"))
    memory.open()
    memory.section.get_by_role("button", name="Still alive").click()
    expect(memory.section).to_contain_text("8 MiB alive at the end, by who holds it")
    (row,) = memory.section.locator("summary").all()
    expect(row).to_have_text(f"{name}also adam._parameter_list[0]8 MiB1 block")
    page.set_viewport_size({"width": 400, "height": 800})
    size = row.locator("b").bounding_box()
    assert size
    assert size["height"] < 25, "what it holds is on one line"
