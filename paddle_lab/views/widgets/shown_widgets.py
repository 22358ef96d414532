"""Keeps track of which cells show which widgets, and closes widgets that no cell shows.

ipywidgets keeps every widget forever, because a page may request it, and a page keeps the model of
every widget that is open. So without this module, a cell that runs again would leave its earlier
widget behind, with all its data. A widget is closed if its cell ran again, was deleted or was
cleared, and if no page shows it in another place (in a separate view, or inside another widget). If
a variable holds the widget, it can be displayed again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import ipywidgets
from IPython import get_ipython

_ANSWER_LIMIT_S: Final = 5.0
"""How long pages have time to answer that they show a widget."""
_LEAST_QUIET_S: Final = 0.5
"""Answers count only if no cell has run for this long, because they wait while a cell runs."""
_ELSEWHERE: Final = "elsewhere"
"""Stands for the cell if a callback of the page displayed the widget, so no cell is known."""


@dataclass(eq=False)
class ShownWidget:
    """A widget, and the cells and pages that show it."""

    widget: Any
    close: Callable[[], None]
    ask: Callable[[], None] | None
    """Asks the pages how many views of the widget they have."""
    is_at_work: Callable[[], bool]
    cells: set[str] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    """Pages that have the widget and have not answered that they do not show it."""
    viewing: set[str] = field(default_factory=set)
    """Pages that answered that they show the widget."""
    asked_s: float | None = None
    """When the pages were asked, by ``time.monotonic``."""

    def ask_once(self, ask: Callable[[], None]) -> None:
        """Ask the pages whether they show the widget, if they were not asked before."""
        if self.asked_s is None:
            self.asked_s = time.monotonic()
            self.viewing.clear()
            ask()

    @property
    def left_s(self) -> float:
        """How much time is left for the pages to answer."""
        return 0.0 if self.asked_s is None else self.asked_s + _ANSWER_LIMIT_S - time.monotonic()

    @property
    def is_in_a_box(self) -> bool:
        """Whether another widget shows this widget."""
        # A newer ipywidgets may store its widgets in another place. Then none is found.
        others = list(getattr(ipywidgets.widgets.widget, "_instances", {}).values())
        boxes = [getattr(other, "children", None) for other in others]
        return any(self.widget in box for box in boxes if isinstance(box, (tuple, list)))


class ShownWidgets:
    """The widgets of a kernel."""

    def __init__(self) -> None:
        self._shown: dict[int, ShownWidget] = {}
        self._shell: Any = None
        self._depth = 0
        self._limit: asyncio.TimerHandle | None = None

    def stand(
        self,
        widget: Any,
        close: Callable[[], None],
        ask: Callable[[], None] | None = None,
        is_at_work: Callable[[], bool] = lambda: False,
    ) -> None:
        """Register a widget that is shown below the running cell.

        Parameters
        ----------
        widget
            An open widget.
        close
            Closes the widget.
        ask
            Asks each page how many views it shows. :meth:`hear` receives the answers. Without
            ``ask``, the widget is closed as soon as no cell shows it.
        is_at_work
            Tells whether the widget is still working, for example sampling. Then it stays open even
            if no page shows it.
        """
        shell = get_ipython()
        self._watch(shell)
        shown = self._shown.setdefault(id(widget), ShownWidget(widget, close, ask, is_at_work))
        cell = _running_cell(shell)
        if cell is not None:
            shown.cells.add(cell)
            shown.asked_s = None

    def forget(self, widget: Any) -> None:
        """Forget a widget that was closed."""
        self._shown.pop(id(widget), None)

    def hear(self, widget: Any, content: Any) -> bool:
        """Handle a message from a page. Return whether it was about where a widget is shown."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind not in ("arrived", "views", "cleared"):
            return False
        shown = self._shown.get(id(widget))
        if shown is None:
            return True
        page = str(content.get("page"))
        if kind == "arrived":
            shown.pages.add(page)
            # A page that was loaded again does not report that its earlier views are gone, so ask
            # again.
            shown.asked_s = None
        elif kind == "views" and content.get("count"):
            shown.viewing.add(page)
        elif kind == "views":
            shown.viewing.discard(page)
            shown.pages.discard(page)
        else:
            shown.cells.clear()
        self._settle()
        return True

    # -- cells ------------------------------------------------------------------------------------

    def _watch(self, shell: Any) -> None:
        if shell is None or shell is self._shell:
            return
        self._shell, self._depth = shell, 0
        shell.events.register("pre_run_cell", self._enter_cell)
        shell.events.register("post_run_cell", self._leave_cell)

    def _enter_cell(self, _info: Any) -> None:
        self._depth += 1
        if self._depth > 1:  # a nested run, as by %run: the notebook's cell is still running
            return
        if self._limit is not None:
            self._limit.cancel()
        cell = _running_cell(self._shell)
        cleared = {*_deleted_cells(self._shell), *([] if cell is None else [cell])}
        for shown in list(self._shown.values()):
            shown.cells -= cleared

    def _leave_cell(self, _result: Any) -> None:
        self._depth = max(self._depth - 1, 0)
        self._settle()

    def _settle(self, *, is_quiet: bool = False) -> None:
        """Close widgets that no cell shows, but first ask the pages that may show them.

        After some time without messages, also close widgets that no page reported, because a closed
        page does not answer.
        """
        if self._depth:
            return
        waiting = []
        for shown in list(self._shown.values()):
            if shown.cells or shown.is_in_a_box:
                continue
            if shown.ask is None or not shown.pages:
                if not shown.is_at_work():
                    self._let_go(shown)
                continue
            shown.ask_once(shown.ask)
            if shown.viewing:
                continue
            if is_quiet and shown.left_s <= 0:
                self._let_go(shown)
            else:
                waiting.append(shown.left_s)
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        if waiting:
            with suppress(RuntimeError):  # there is no event loop, and so there is no page
                loop = asyncio.get_running_loop()
                delay_s = max(_LEAST_QUIET_S, min(waiting))
                self._limit = loop.call_later(delay_s, lambda: self._settle(is_quiet=True))

    def _let_go(self, shown: ShownWidget) -> None:
        self.forget(shown.widget)
        shown.close()


SHOWN: Final = ShownWidgets()


def close_whole(widget: Any) -> None:
    """Close a widget and its parts: layout, style, and the children of a box."""
    parts = [getattr(widget, key) for key in widget.keys]
    widget.close()
    for part in parts:
        for each in part if isinstance(part, tuple) else (part,):
            if isinstance(each, ipywidgets.Widget) and each.comm is not None:
                close_whole(each)


def _running_cell(shell: Any) -> str | None:
    """Return a text that identifies the running cell; ``None`` outside of notebooks.

    JupyterLab, Notebook 7 and VS Code send an id. For other front ends the cell's text is used.
    """
    message = _message(shell)
    if message is None:
        return None
    metadata, content = message.get("metadata") or {}, message.get("content") or {}
    if "cellId" in metadata:
        return f"cell {metadata['cellId']}"
    if "code" in content:
        return f"text {content['code']}"
    return _ELSEWHERE


def _deleted_cells(shell: Any) -> list[str]:
    """Return cells that were deleted since the last cell ran, if the front end reports them."""
    metadata = (_message(shell) or {}).get("metadata") or {}
    return [f"cell {cell}" for cell in metadata.get("deletedCells") or ()]


def _message(shell: Any) -> dict[str, Any] | None:
    """Return the message that the kernel is handling."""
    if getattr(shell, "kernel", None) is None:
        return None
    message = shell.get_parent()
    return message if isinstance(message, dict) else None
