"""The widget that shows the graph of a trace."""

from __future__ import annotations

from collections.abc import Callable
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

import traitlets
from IPython.core.getipython import get_ipython

from paddle_lab.views.html.notebook_output import GraphOutput
from paddle_lab.views.html.static_files import packed_script, widget_module
from paddle_lab.views.widgets.cell_widget import CellWidget
from paddle_lab.words import language, say

_VIEWS = ("ladder", "forward", "backward", "memory", "table", "time")
_LEAST_HEIGHT_PX = 240
_LARGEST_HEIGHT_PX = 4000
_BETWEEN_PROGRESS_S = 0.2


class GraphWidget(CellWidget):
    """Draws a packed trace. Its state contains all data, so it works without a kernel.

    Parameters
    ----------
    output
        The output that the notebook shows and stores: payload, view (``"forward"``, ``"backward"``,
        ``"ladder"``, ``"memory"``, ``"table"`` or ``"time"``) and height (240 to 4000 pixels).
    page_of
        Makes the page that the export menu saves. Its argument is the payload.
    value_of
        Answers a question about a value with a message and its buffers. Its second argument is
        told how many of how many ops have run, and returns whether to go on.

    Raises
    ------
    ValueError
        If there is no such view, or the height is out of bounds.
    """

    _esm = widget_module("widget.js")

    # If JupyterLab's plugin has the same build, the page drops its own copy (js/src/widget.ts).
    _view_script = traitlets.Unicode().tag(sync=True)
    _view_build = traitlets.Unicode().tag(sync=True)
    # The "payload" of _data is drawn. The "payload" of _stored is saved instead, if it is smaller.
    # The page changes its copy in place (js/src/jupyter/kept_data.ts), because it would send a new
    # dict back to the kernel.
    _data = traitlets.Dict().tag(sync=True)
    _stored = traitlets.Dict().tag(sync=True)
    _view = traitlets.Unicode("forward").tag(sync=True)
    _height = traitlets.Int(560).tag(sync=True)
    _language = traitlets.Unicode("en").tag(sync=True)
    # The selected op and grad node, -1 for none. The page and the kernel can both change them.
    selected_op = traitlets.Int(-1).tag(sync=True)
    selected_grad_node = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        output: GraphOutput,
        *,
        page_of: Callable[[bytes], str],
        value_of: Callable[
            [dict[str, Any], Callable[[int, int], bool]], tuple[dict[str, Any], list[bytes]]
        ],
    ) -> None:
        least, most = _LEAST_HEIGHT_PX, _LARGEST_HEIGHT_PX
        if output.view not in _VIEWS:
            raise ValueError(say("errors.no_graph_view", view=repr(output.view)))
        if not least <= output.height <= most:
            told = say("errors.view_height", least=least, most=most, height=output.height)
            raise ValueError(told)
        self._output = output
        self._page_of = page_of
        self._value_of = value_of
        self._cancelled: set[Any] = set()
        script, build = packed_script("widget_view.js")
        super().__init__(
            _data={"payload": output.payload},
            _view=output.view,
            _height=output.height,
            _language=language(),
            _view_script=script,
            _view_build=build,
        )

    def store(self) -> None:
        """Send the data that the notebook stores. The page already has the data that it draws."""
        output = self._output
        if output.stored is not output.payload and not self._stored:
            self._stored = {"payload": output.stored}

    def early_data(self) -> dict[str, Any]:
        """Return an output for our JupyterLab plugin, without the data that a notebook stores."""
        return self._output.early_data(self._identity())

    def hear(self, content: Any) -> None:
        """Answer a request of the page (js/src/jupyter/asking.ts) for an HTML page or a value."""
        if not isinstance(content, dict):
            return
        if content.get("kind") == "cancel_value":
            self._cancelled.add(content.get("id"))
        if content.get("kind") == "value":
            self._send_value(content)
        if content.get("kind") != "page":
            return
        answer = {"kind": "page", "id": content.get("id")}
        self.send({**answer, "kind": "page_begun"})
        try:
            page = self._page_of(self._data["payload"]).encode("utf-8")
        except Exception as error:  # noqa: BLE001  (the page shows the error)
            self.send({**answer, "error": f"{type(error).__name__}: {error}"})
        else:
            self.send(answer, [page])

    def _send_value(self, content: dict[str, Any]) -> None:
        answer = {"kind": "value", "id": content.get("id")}
        self.send({**answer, "kind": "value_begun"})
        loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
        if loop is not None and current_thread() is not main_thread():
            # This thread must not compute now: a running cell may use the random generators.
            loop.add_callback(self._compute_value, content, answer)
        else:
            self._compute_value(content, answer)

    def _compute_value(self, content: dict[str, Any], answer: dict[str, Any]) -> None:
        said_at = monotonic()
        buffers: list[bytes] = []

        def tell(done: int, of: int) -> bool:
            nonlocal said_at
            if monotonic() - said_at > _BETWEEN_PROGRESS_S:
                said_at = monotonic()
                self.send({**answer, "kind": "value_progress", "done": done, "of": of})
            return answer["id"] not in self._cancelled

        try:
            found, buffers = self._value_of(content, tell)
            answer |= found
        except Exception as error:  # noqa: BLE001  (the page shows the error)
            answer["error"] = f"{type(error).__name__}: {error}"
        self._cancelled.discard(answer["id"])
        self.send(answer, buffers)

    def substitute_html(self, note: str) -> str:
        """Return the HTML of a static picture."""
        return self._output.still_html(note)

    def output_data(self, widget: dict[str, str]) -> dict[str, Any]:
        """Return the graph's data, as a notebook stores it."""
        return self._output.data(say("environments.still_elsewhere"), widget=widget)
