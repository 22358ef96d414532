"""The JupyterLab plugin: what happens when a view asks for a line of source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.notebook_page import NotebookPage, notebook_of

if TYPE_CHECKING:
    from tests.browser.conftest import OpenNotebook

_LONG = "\n".join(f"line_{number} = {number}" for number in range(1, 41))


# The band is shown only for a moment, and the notebook may still scroll then.
_BAND_LIES_ON = """(number) => {
  const band = document.querySelector(".paddle-lab-line-flash");
  const line = document.querySelectorAll(".jp-mod-active .cm-line")[number];
  if (!band || !line) return false;
  return Math.abs(band.getBoundingClientRect().y - line.getBoundingClientRect().y) < 3;
}"""


def _ask(notebook: NotebookPage, **detail: Any) -> bool:
    """Dispatch the event as a view does; True if the application took it."""
    taken: bool = notebook.page.evaluate(
        """(detail) => {
          const from = window.jupyterapp.shell.currentWidget.node;
          const options = { detail, bubbles: true, cancelable: true };
          return !from.dispatchEvent(new CustomEvent("paddle-lab:open-source", options));
        }""",
        detail,
    )
    return taken


def _wait_for_selected_line(notebook: NotebookPage, text: str) -> None:
    notebook.page.wait_for_function(
        """(text) => {
          const editor = window.jupyterapp.shell.currentWidget.content.activeCell?.editor;
          if (!editor) return false;
          const { start, end } = editor.getSelection();
          return editor.getLine(start.line).slice(start.column, end.column) === text;
        }""",
        arg=text,
    )


def test_a_frame_of_a_cell_shows_the_cell_at_its_line(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of("first = 1", *[_LONG] * 6, "x = 1\ny = 2\nz = 3", _LONG))
    notebook.run_all()

    assert _ask(notebook, file="/tmp/ipykernel_1/2.py", line=2, cell=8, source_text="")
    notebook.page.wait_for_function(_BAND_LIES_ON, arg=1)
    _wait_for_selected_line(notebook, "y = 2")
    assert notebook.active_cell() == 7
    notebook.screenshot("open-cell")


def test_a_cell_is_found_by_its_text_after_a_new_kernel(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of("x = 1", "%%time\ny = 2\nz = 3"))

    assert _ask(
        notebook, file="/tmp/ipykernel_1/2.py", line=3, cell=9, source_text="%%time\ny = 2\nz = 3"
    )
    _wait_for_selected_line(notebook, "z = 3")
    assert notebook.active_cell() == 1


def test_a_line_past_the_end_of_an_edited_cell_shows_its_last(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of("x = 1\ny = 2"))
    notebook.run_all()

    assert _ask(notebook, file="/tmp/ipykernel_1/2.py", line=9, cell=1, source_text="")
    _wait_for_selected_line(notebook, "y = 2")


def test_a_file_below_the_root_opens_at_its_line(lab_page: OpenNotebook) -> None:
    notebook = lab_page(notebook_of("x = 1"))
    file = notebook.server.root / "net.py"
    file.write_text(_LONG)

    assert _ask(notebook, file=str(file), line=33, cell=-1, source_text="")
    notebook.page.wait_for_function(
        """() => {
          const editor = window.jupyterapp.shell.currentWidget?.content?.editor;
          return editor?.getCursorPosition?.().line === 32;
        }"""
    )
    expect(notebook.page.get_by_text("line_33 = 33")).to_be_visible()
    notebook.screenshot("open-file")


def test_what_cannot_be_shown_is_left_to_the_view(jupyter_page: OpenNotebook) -> None:
    notebook = jupyter_page(notebook_of("x = 1"))
    hidden = notebook.server.root / ".venv" / "net.py"

    assert not _ask(notebook, file="/usr/lib/python3/random.py", line=3, cell=-1, source_text="")
    assert not _ask(notebook, file=str(hidden), line=3, cell=-1, source_text="")
    assert not _ask(notebook, file="/tmp/ipykernel_1/2.py", line=3, cell=12, source_text="")
    assert not _ask(notebook, file=7, line="<script>")
    assert notebook.page.locator(".paddle-lab-line-flash").count() == 0
