"""A trace that exceeded its limit says so in every view, and so do pages made from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect
from traitlets.config import Config

from tests.browser.conftest import opened_notebooks
from tests.browser.notebook_page import notebook_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

    from tests.browser.notebook_page import NotebookPage, Theme
    from tests.browser.server_process import JupyterServer

_SETUP = "%load_ext paddle_lab\nimport paddle\nx = paddle.rand([4])"
_TRACED = "%%paddle_trace --limit 1000\nfor _ in range(600):\n    x = paddle.tanh(x) + 1.0"
_TOLD = "1,200 ops ran, and the trace keeps the newest 1,000."
_LEAST_CONTRAST = 4.5
"""Of text, as WCAG asks for at level AA."""

# Contrast of an element's text to the nearest ground below it that is not transparent.
_CONTRAST = """element => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  let ground = [255, 255, 255];
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) {
      ground = colour;
      break;
    }
  }
  const text = luminance(rgba(getComputedStyle(element).color));
  const [dark, light] = [text, luminance(ground)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}"""


@pytest.fixture(scope="module")
def notebook(
    lab_server: JupyterServer, browser: Browser, screenshots: Path
) -> Iterator[NotebookPage]:
    """Run a limited trace in JupyterLab, with a page of it, and save all of it."""
    opened = opened_notebooks(lab_server, browser, screenshots, "limit")
    page = next(opened)(notebook_of(_SETUP, _TRACED, "_trace.to_html('limited.html').name"))
    page.run_all()
    page.save_widget_state()
    expect(page.cell(1).locator(".pdl-canvas > canvas")).to_be_visible()
    page.save()
    yield page
    next(opened, None)


def notice_in(root: Locator) -> Locator:
    return root.get_by_role("note").filter(has_text="ops ran")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_view_says_how_many_ops_ran_and_were_kept(notebook: NotebookPage, theme: Theme) -> None:
    notebook.theme(theme)
    output = notebook.cell(1)
    notice = notice_in(output)
    expect(notice).to_be_visible()
    expect(notice).to_contain_text(_TOLD)
    expect(notice).to_contain_text("limit=2_000 (--limit 2000) keeps all.")
    assert notice.evaluate(_CONTRAST) >= _LEAST_CONTRAST
    expect(output.get_by_text("1 000 ops").first).to_be_visible()
    notebook.theme("light")
    notebook.screenshot("limit")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_page_says_it_too(
    notebook: NotebookPage, browser: Browser, theme: Theme, screenshots: Path
) -> None:
    page = browser.new_page(color_scheme=theme)
    page.goto((notebook.server.root / "limited.html").as_uri())
    notice = notice_in(page.locator("body"))
    expect(notice).to_contain_text(_TOLD)
    assert notice.evaluate(_CONTRAST) >= _LEAST_CONTRAST
    page.screenshot(path=screenshots / f"page_limit-{theme}.png")
    page.close()


# Saved without the state of its widgets, and with it: see "Where it works" in the README.
@pytest.mark.parametrize("is_cleared", [False, True], ids=["stateless", "cleared"])
def test_nbconvert_leaves_a_picture_and_the_notice(
    notebook: NotebookPage, browser: Browser, screenshots: Path, tmp_path: Path, is_cleared: bool
) -> None:
    saved = notebook.saved()
    if not is_cleared:
        del saved.metadata["widgets"]
    config = Config({"ClearMetadataPreprocessor": {"enabled": is_cleared}})
    exporter = HTMLExporter(config=config)  # type: ignore[no-untyped-call]
    html, _ = exporter.from_notebook_node(saved)
    (tmp_path / "converted.html").write_text(html, encoding="utf-8")
    page = browser.new_page()
    # Run without the network, because such a page would load widgets from there.
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto((tmp_path / "converted.html").as_uri())
    picture = page.locator("img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 400
    expect(page.get_by_text(_TOLD)).to_be_visible()
    page.screenshot(path=screenshots / f"nbconvert-{'cleared' if is_cleared else 'stateless'}.png")
    page.close()
