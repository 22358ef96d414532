"""A notebook open in a real Jupyter application, and the actions of a user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import nbformat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page, Route, WebSocketRoute

    from tests.browser.server_process import JupyterServer

Theme = Literal["light", "dark"]

_OPEN_LIMIT_MS = 60_000
_RUN_LIMIT_MS = 180_000

_CELLS_THERE = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  const count = panel?.context?.isReady ? panel.content.model.cells.length : 0;
  return count > 0 && panel.content.widgets.length === count;
}"""
# Playwright awaits one promise and takes its value, whatever it is. So a condition must be
# evaluated at once.
_KERNEL_READY = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.isReady === true && panel.sessionContext.isReady
    && panel.sessionContext.session?.kernel?.status === "idle";
}"""
_SAVE_WIDGET_STATE = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"


def notebook_of(*cells: str, kernel: str = "python3") -> nbformat.NotebookNode:
    """Build a notebook with these code cells; a cell that begins with ``#md`` is text."""
    made = [
        nbformat.v4.new_markdown_cell(text[3:].lstrip())
        if text.startswith("#md")
        else nbformat.v4.new_code_cell(text)
        for text in cells
    ]
    # Without a kernelspec the application asks for a kernel and waits.
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec})


class NotebookPage:
    """A notebook in a browser page; ``page`` is Playwright's own.

    Without a directory for screenshots none are taken.
    """

    def __init__(
        self, page: Page, server: JupyterServer, path: str, screenshots: Path | None
    ) -> None:
        self.page = page
        self.server = server
        self.path = path
        self._screenshots = screenshots

    def open(self, *, kernel: bool = True, awaits_kernel: bool = True) -> None:
        """Load the page; with ``kernel=False`` the application starts none."""
        if not kernel:
            self.page.route("**/*", _without_kernel)
        self.page.goto(self.server.page_url(self.path), timeout=_OPEN_LIMIT_MS)
        self.page.wait_for_function(
            _CELLS_THERE,
            timeout=_OPEN_LIMIT_MS,
        )
        if kernel and awaits_kernel:
            self.wait_for_kernel()

    def wait_for_kernel(self) -> None:
        """Wait until the kernel has answered and is idle."""
        self.page.wait_for_function(_KERNEL_READY, timeout=_OPEN_LIMIT_MS)

    def leave(self) -> None:
        """Leave the notebook's page and end its kernel."""
        self.page.goto("about:blank")
        self.server.end_kernels()

    def reopened(self, *, kernel: bool) -> NotebookPage:
        """Open the notebook's file in a new page."""
        page = self.page.context.new_page()
        again = NotebookPage(page, self.server, self.path, self._screenshots)
        again.open(kernel=kernel)
        return again

    def reopened_with_a_silent_kernel(self) -> tuple[NotebookPage, Callable[[], None]]:
        """Open the file in a new page; what is returned with it lets the kernel's messages in."""
        page = self.page.context.new_page()
        held: list[tuple[WebSocketRoute, str | bytes]] = []
        is_silent = [True]

        def connect(socket: WebSocketRoute) -> None:
            def take(message: str | bytes) -> None:
                if is_silent:
                    held.append((socket, message))
                else:
                    socket.send(message)

            socket.connect_to_server().on_message(take)

        def speak() -> None:
            is_silent.clear()
            for socket, message in held:
                socket.send(message)

        page.route_web_socket(re.compile("/channels"), connect)
        again = NotebookPage(page, self.server, self.path, self._screenshots)
        again.open(awaits_kernel=False)
        return again, speak

    def command(self, name: str, **arguments: Any) -> None:
        """Execute a command of the application and wait until it is done."""
        self.page.evaluate(
            """async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }""",
            [name, arguments],
        )

    def save_widget_state(self) -> None:
        """Have JupyterLab save its widgets' state from now on.

        Its command turns the setting over, and the server keeps the setting for the next page.
        """
        toggled = "(name) => window.jupyterapp.commands.isToggled(name)"
        if not self.page.evaluate(toggled, _SAVE_WIDGET_STATE):
            self.command(_SAVE_WIDGET_STATE)
        self.page.wait_for_function(toggled, arg=_SAVE_WIDGET_STATE)

    def run_all(self) -> None:
        """Run all cells, as the menu entry does, and wait until the kernel is idle."""
        self.page.set_default_timeout(_RUN_LIMIT_MS)
        self.command("notebook:run-all-cells")
        self.page.wait_for_function(_KERNEL_READY, timeout=_RUN_LIMIT_MS)
        self.page.set_default_timeout(30_000)

    def run_cell(self, index: int) -> int:
        """Run a cell (numbered from 0), wait until it is done, and return its execution count."""
        self._activate(index)
        self.command("notebook:run-cell")
        self.page.wait_for_function(_KERNEL_READY, timeout=_RUN_LIMIT_MS)
        return self.execution_count(index)

    def start_cell(self, index: int) -> None:
        """Run a cell (numbered from 0), and do not wait for it."""
        self._activate(index)
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-cell') }")

    def execution_count(self, index: int) -> int:
        """Number in the prompt of a code cell that has run."""
        count: int = self.page.evaluate(
            """(index) =>
              window.jupyterapp.shell.currentWidget.content.widgets[index].model.executionCount
            """,
            index,
        )
        return count

    def save(self) -> None:
        """Save the notebook to its file."""
        self.command("docmanager:save")
        self.page.wait_for_function(
            "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
        )

    def saved(self) -> nbformat.NotebookNode:
        """Read the notebook's file."""
        return nbformat.read(self.server.root / self.path, as_version=4)

    def cell(self, index: int) -> Locator:
        """Cell by position, from 0, scrolled into view."""
        self.page.evaluate(
            """async (index) => {
              const notebook = window.jupyterapp.shell.currentWidget.content;
              await notebook.scrollToCell(notebook.widgets[index], "start");
            }""",
            index,
        )
        return self.page.locator(f'.jp-Cell[data-windowed-list-index="{index}"]')

    def output_text(self, index: int) -> str:
        """Text of a cell's outputs as the document holds them."""
        return "".join(
            part.get("text", "") if part["output_type"] == "stream" else _plain_text(part)
            for part in self._outputs(index)
        )

    def errors(self) -> list[str]:
        """``Name: text`` of every error among the outputs."""
        count: int = self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
        )
        return [
            f"{output['ename']}: {output['evalue']}"
            for index in range(count)
            for output in self._outputs(index)
            if output["output_type"] == "error"
        ]

    def active_cell(self) -> int:
        """Position of the active cell, from 0."""
        index: int = self.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
        )
        return index

    def selected_line(self) -> str:
        """Text selected in the active cell's editor."""
        text: str = self.page.evaluate(
            """() => {
              const editor = window.jupyterapp.shell.currentWidget.content.activeCell.editor;
              const { start, end } = editor.getSelection();
              return editor.getLine(start.line).slice(start.column, end.column);
            }"""
        )
        return text

    def theme(self, theme: Theme) -> None:
        """Switch the application's theme and wait until it is drawn."""
        name = "JupyterLab Light" if theme == "light" else "JupyterLab Dark"
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function(
            "(light) => document.body.dataset.jpThemeLight === light",
            arg=str(theme == "light").lower(),
        )
        # JupyterLab covers the page while it loads a theme.
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def screenshot(self, name: str) -> None:
        """Take a picture of the window in light and in dark, if pictures are kept."""
        if self._screenshots is None:
            return
        for theme in ("light", "dark"):
            self.theme(theme)
            path = self._screenshots / f"{name}-{self.server.application}-{theme}.png"
            self.page.screenshot(path=path)
        self.theme("light")

    def _activate(self, index: int) -> None:
        self.page.evaluate(
            """(index) => {
              const notebook = window.jupyterapp.shell.currentWidget.content;
              notebook.deselectAll();
              notebook.activeCellIndex = index;
            }""",
            index,
        )

    def _outputs(self, index: int) -> list[dict[str, Any]]:
        outputs: list[dict[str, Any]] = self.page.evaluate(
            """(index) => {
              const cell = window.jupyterapp.shell.currentWidget.content.widgets[index];
              return cell.model.type === "code" ? cell.model.outputs.toJSON() : [];
            }""",
            index,
        )
        return outputs


def _without_kernel(route: Route) -> None:
    """Change the page's configuration as ``LabApp.notebook_starts_kernel=False`` does."""
    if route.request.resource_type != "document":
        route.continue_()
        return
    response = route.fetch()
    setting = '"notebookStartsKernel": '
    route.fulfill(
        response=response, body=response.text().replace(f"{setting}true", f"{setting}false")
    )


def _plain_text(output: dict[str, Any]) -> str:
    text = output.get("data", {}).get("text/plain", "")
    return text if isinstance(text, str) else "".join(text)
