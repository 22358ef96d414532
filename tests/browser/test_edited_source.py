"""A click on a frame whose cell or file was edited after the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.graph_view import GraphView
from tests.browser.notebook_page import NotebookPage, notebook_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenNotebook

_TRACED = """\
%%paddle_trace
x = paddle.ones([2, 2])
y = paddle.tanh(x)
z = paddle.exp(y)"""

# The source is longer than an editor is tall.
_MODULE = "\n".join(
    [
        "import paddle",
        *["#"] * 101,
        "def shrink(x):",
        "    return paddle.tanh(x)",
        "",
    ]
)

_BAND_LIES_ON = """(text) => {
  const { node } = window.jupyterapp.shell.currentWidget;
  const band = node.querySelector(".paddle-lab-line-flash");
  const line = [...node.querySelectorAll(".cm-line")].find((one) => one.textContent.includes(text));
  return Math.abs(band.getBoundingClientRect().y - line.getBoundingClientRect().y) < 3;
}"""


def _edit(notebook: NotebookPage, index: int, text: str) -> None:
    notebook.page.evaluate(
        """async ([index, text]) => {
          const { widgets } = window.jupyterapp.shell.currentWidget.content;
          widgets[index].model.sharedModel.setSource(text);
          // The editor's new height moves the picture below it: no click before that.
          let top;
          while (top !== (top = widgets[index].outputArea?.node.getBoundingClientRect().top)) {
            await new Promise((after) => setTimeout(after, 200));
          }
        }""",
        [index, text],
    )


def _follow(notebook: NotebookPage, index: int, frame: str) -> tuple[GraphView, Locator]:
    """Click a frame of the op ``tanh``; return the view and the panel's page of sources."""
    view = GraphView(notebook.cell(index))
    view.wait_until_drawn()
    view.click(view.op("tanh"))
    view.stack().get_by_role("button", name=frame).click()
    return view, view.panel.get_by_role("tabpanel", name="Source")


def _expect_selected(notebook: NotebookPage, text: str) -> None:
    notebook.page.wait_for_function(
        """(text) => {
          const { content } = window.jupyterapp.shell.currentWidget;
          const editor = content.activeCell?.editor ?? content.editor;
          const { start, end } = editor.getSelection();
          return editor.getLine(start.line).slice(start.column, end.column) === text;
        }""",
        arg=text,
    )


def test_a_line_of_an_edited_cell_is_found_and_what_ran_is_shown(
    jupyter_page: OpenNotebook,
) -> None:
    notebook = jupyter_page(notebook_of("import paddle\n%load_ext paddle_lab", _TRACED))
    notebook.run_all()

    moved = _TRACED.replace("x = ", "# Two\n# lines more\nx = ").replace("ones", "zeros")
    _edit(notebook, 1, moved)
    _, source = _follow(notebook, 1, "Cell 2, line 3")
    _expect_selected(notebook, "y = paddle.tanh(x)")
    expect(notebook.page.locator(".paddle-lab-line-told")).to_have_text("was line 3")
    notebook.screenshot("edited-moved")
    expect(source).to_contain_text("Cell 2 has changed since it ran. Line 3 is line 5 now.")
    expect(source).to_contain_text("x = paddle.ones([2, 2])")
    expect(source.locator(".pdl-code-line.pdl-lit")).to_contain_text("y = paddle.tanh(x)")

    _edit(notebook, 1, _TRACED.replace("y = paddle.tanh(x)", "y = paddle.sigmoid(x)"))
    view, source = _follow(notebook, 1, "Cell 2, line 3")
    expect(source).to_contain_text("Line 3 was not found in it.")
    expect(source.locator(".pdl-code-line.pdl-lit")).to_contain_text("y = paddle.tanh(x)")
    notebook.screenshot("edited-gone")
    source.get_by_role("button", name="Show the cell").click()
    expect(notebook.page.locator(".paddle-lab-cell-flash")).to_be_visible()

    _edit(notebook, 1, "something = 'else'")
    view, source = _follow(notebook, 1, "Cell 2, line 3")
    expect(source).to_contain_text("No cell of this notebook holds the code of Cell 2.")
    expect(source.locator(".pdl-code-line.pdl-lit")).to_contain_text("y = paddle.tanh(x)")

    _edit(notebook, 1, _TRACED)
    view.panel.get_by_role("tab", name="Details").click()
    _, source = _follow(notebook, 1, "Cell 2, line 3")
    _expect_selected(notebook, "y = paddle.tanh(x)")
    expect(notebook.page.locator(".paddle-lab-line-flash")).to_have_text("")


def test_a_line_of_an_edited_file_is_found_or_its_text_shown(lab_page: OpenNotebook) -> None:
    notebook = lab_page(
        notebook_of(
            "import paddle\n%load_ext paddle_lab\nimport shrinking",
            "%%paddle_trace\nshrinking.shrink(paddle.ones([2]))",
        )
    )
    file = notebook.server.root / "shrinking.py"
    file.write_text(_MODULE)
    notebook.run_all()

    file.write_text(_MODULE.replace("def shrink", "# More\n\n\ndef shrink"))
    _, source = _follow(notebook, 1, "shrinking.py, line 104")
    expect(notebook.page.locator(".paddle-lab-line-told")).to_have_text("was line 104")
    _expect_selected(notebook, "    return paddle.tanh(x)")
    assert notebook.page.evaluate(_BAND_LIES_ON, "return paddle.tanh(x)")
    notebook.screenshot("edited-file")

    notebook.page.get_by_role("tab", name=notebook.path).click()
    expect(source).to_contain_text("shrinking.py has changed since it was traced.")
    expect(source).to_contain_text("Line 104 is line 107 now.")
    # Text that is typed into the editor counts before it is saved.
    notebook.page.evaluate(
        """() => {
          for (const widget of window.jupyterapp.shell.widgets("main"))
            if (widget.context?.path === "shrinking.py")
              widget.context.model.sharedModel.setSource("nothing = 0");
        }"""
    )
    _, source = _follow(notebook, 1, "shrinking.py, line 104")
    expect(source).to_contain_text("Line 104 was not found in it.")
    expect(source.locator(".pdl-code-line.pdl-lit")).to_contain_text("return paddle.tanh(x)")
