"""What a widget says, said by the cell that made it."""

from __future__ import annotations

import contextvars
from typing import Any

import anywidget


class CellWidget(anywidget.AnyWidget):
    """A widget all of whose messages belong to the cell that made it, whoever caused them.

    ipykernel 7.4 hands what the page sends to the subshell in whose name the widget spoke last
    (``BaseComm._reply_subshell_for``). JupyterLab ends a page's subshells with the page, and from
    a thread one speaks in the name of whatever was asked last: the answer of the next page would go
    to a subshell that is gone, and be lost. A cell's own shell stays.
    """

    def __init__(self, **state: Any) -> None:
        self._cell = contextvars.copy_context()
        super().__init__(**state)

    def _send(self, msg: Any, buffers: Any = None) -> None:
        # A copy: two threads may speak at once, and a context lets one in at a time.
        self._cell.copy().run(super()._send, msg, buffers)
