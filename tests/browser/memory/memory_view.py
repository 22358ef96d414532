"""The memory view as a user operates it: timeline, table, moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# Width and height of a PNG, and how many of its pixels have which colour.
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
