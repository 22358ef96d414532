"""The graph view in a page: its picture, its outline (an ARIA tree) and its panel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

# The outline follows the picture in the frames after it.
FOUR_FRAMES = """async () => {
  for (let i = 0; i < 4; i++) await new Promise((drawn) => requestAnimationFrame(drawn));
}"""


class GraphView:
    """One graph view; ``root`` is what contains it, such as a cell's output."""

    def __init__(self, root: Locator) -> None:
        self.app = root.locator(".pdl-app")
        self.outline = self.app.get_by_role("tree", name="Outline of the graph")
        self.panel = self.app.get_by_role("complementary", name="Details")
        self.canvas = self.app.locator(".pdl-canvas > canvas")

    def wait_until_drawn(self) -> None:
        """Wait for the first picture or, after a change, for the next one."""
        self.app.evaluate(FOUR_FRAMES)
        expect(self.outline.locator("[data-centre]").first).to_be_attached()

    def show(self, mode: str) -> None:
        """Press Forward, Backward or Ladder."""
        button = self.app.get_by_role("group", name="Graph").get_by_role("button", name=mode)
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        self.wait_until_drawn()

    def group(self, label: str) -> Locator:
        """Outline row of a group; ``label`` is the first word of its name."""
        named = self.outline.locator("[role=treeitem][data-group]")
        return named.filter(has_text=re.compile(rf"^[▸▾]?{re.escape(label)}")).first

    def op(self, name: str, *, nth: int = 0) -> Locator:
        """Outline row of an op by its name, from 0 among those that are shown."""
        rows = self.outline.locator("[role=treeitem][data-op]")
        return rows.filter(has_text=re.compile(rf"^[▸▾]?{re.escape(name)}")).nth(nth)

    def grad_node(self, key: int | str) -> Locator:
        """Outline row of a grad node by its key."""
        return self.outline.locator(f'[role=treeitem][data-grad-node="{key}"]')

    def selected(self) -> Locator:
        """Outline rows that are selected."""
        return self.outline.locator('[aria-selected="true"]')

    def open_with_keyboard(self, row: Locator) -> None:
        """Open a group as the keyboard does."""
        row.focus()
        row.press("ArrowRight")
        self.wait_until_drawn()

    def click(self, row: Locator, *, double: bool = False) -> None:
        """Click the place in the picture that an outline row stands for."""
        centre = row.get_attribute("data-centre")
        camera = self.canvas.get_attribute("data-camera")
        assert centre, "the picture shows it"
        assert camera
        x, y = map(float, centre.split())
        shift_x, shift_y, scale = map(float, camera.split())
        position = {"x": shift_x + x * scale, "y": shift_y + y * scale}
        if double:
            self.canvas.dblclick(position=position)
        else:
            self.canvas.click(position=position)
        self.wait_until_drawn()

    def stack(self) -> Locator:
        """The call stack in the panel."""
        return self.panel.get_by_role("region", name="Call stack")

    def line(self, number: int) -> Locator:
        """Line of the source in the panel."""
        self.panel.get_by_role("tab", name="Source").click()
        return self.panel.locator(f'.pdl-source-whole [data-line="{number}"]')
