"""What a widget says, said by the cell that made it; and how it comes and goes."""

from __future__ import annotations

import contextvars
from functools import partial
from typing import Any

import anywidget

from paddle_lab.views.widgets.shown_widgets import SHOWN


class CellWidget(anywidget.AnyWidget):
    """A widget all of whose messages belong to the cell that made it, whoever caused them.

    ipykernel 7.4 hands what the page sends to the subshell in whose name the widget spoke last
    (``BaseComm._reply_subshell_for``). JupyterLab ends a page's subshells with the page, and from
    a thread one speaks in the name of whatever was asked last: the answer of the next page would go
    to a subshell that is gone, and be lost. A cell's own shell stays.

    It is closed when it stands below no cell any more (:mod:`shown_widgets`), and opened again when
    whoever kept it displays it.
    """

    def __init__(self, **state: Any) -> None:
        self._cell = contextvars.copy_context()
        super().__init__(**state)
        self.on_msg(self._hear)
        self._stand()

    def close(self) -> None:
        """Take the widget out of the page, and let the page's copy of its data go."""
        SHOWN.forget(self)
        if self.comm is None:
            return
        super().close()
        # Which would keep it from being displayed again.
        self.__dict__.pop("_repr_mimebundle_", None)
        self.layout.close()

    def is_at_work(self) -> bool:
        """Whether it does something though no page shows it."""
        return False

    def hear(self, content: Any) -> None:
        """Take a message of the page; it arrives between cells."""

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not SHOWN.hear(self, content):
            self.hear(content)

    def _stand(self) -> None:
        ask = partial(self.send, {"kind": "count_views"})
        SHOWN.stand(self, self.close, ask, self.is_at_work)

    def _send(self, msg: Any, buffers: Any = None) -> None:
        # A copy: two threads may speak at once, and a context lets one in at a time.
        self._cell.copy().run(super()._send, msg, buffers)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self.comm is None:
            self.layout.open()
            self.open()
        self._stand()
        return super()._repr_mimebundle_(**kwargs)
