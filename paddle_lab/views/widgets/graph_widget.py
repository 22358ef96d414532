"""The graph of one trace as a notebook widget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from paddle_lab.views.html.fallback import still_html
from paddle_lab.views.html.graph_bundle import graph_bundle
from paddle_lab.views.html.static_files import packed_script, widget_module
from paddle_lab.views.widgets.cell_widget import ANYWIDGET_VERSION, CellWidget
from paddle_lab.words import language, say

_VIEWS = ("ladder", "forward", "backward", "memory")
_LEAST_HEIGHT_PX = 240
_LARGEST_HEIGHT_PX = 4000


class GraphWidget(CellWidget):
    """Draws a packed trace; everything it needs is in its state, so it lives without a kernel.

    Parameters
    ----------
    payload
        A record with its answer tables, packed.
    stored
        Makes what a notebook stores of it: the payload itself, or less where that is too much. The
        page has what it draws from by then.
    text
        What a terminal shows.
    still_content
        Makes what a notebook keeps for readers without widgets.
    page_of
        Makes the page that the export menu saves, of the payload.
    view
        ``"forward"``, ``"backward"``, ``"ladder"`` or ``"memory"``.
    height
        Height of the view, 240 to 4000 pixels.

    Raises
    ------
    ValueError
        If there is no such view, or the height is out of bounds.
    """

    _esm = widget_module("widget.js")

    # The page drops its copy where JupyterLab's plugin has the same build (js/src/widget.ts).
    _view_script = traitlets.Unicode().tag(sync=True)
    _view_build = traitlets.Unicode().tag(sync=True)
    # _data: "payload" is drawn. _stored: "payload" is saved instead, if it is smaller. The page
    # changes its own copy in place (js/src/jupyter/kept_data.ts), because a new dict would be sent
    # back.
    _data = traitlets.Dict().tag(sync=True)
    _stored = traitlets.Dict().tag(sync=True)
    _view = traitlets.Unicode("forward").tag(sync=True)
    _height = traitlets.Int(560).tag(sync=True)
    _language = traitlets.Unicode("en").tag(sync=True)
    # The one selection, both ways; -1 is none.
    selected_op = traitlets.Int(-1).tag(sync=True)
    selected_grad_node = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        *,
        payload: bytes,
        stored: Callable[[], bytes],
        text: str,
        still_content: Callable[[], str],
        page_of: Callable[[bytes], str],
        view: str = "forward",
        height: int = 560,
    ) -> None:
        if view not in _VIEWS:
            raise ValueError(say("errors.no_graph_view", view=repr(view)))
        if not _LEAST_HEIGHT_PX <= height <= _LARGEST_HEIGHT_PX:
            raise ValueError(
                say(
                    "errors.view_height",
                    least=_LEAST_HEIGHT_PX,
                    most=_LARGEST_HEIGHT_PX,
                    height=height,
                )
            )
        self._text = text
        self._still_content: Callable[[], str] | str = still_content
        self._page_of = page_of
        script, build = packed_script("widget_view.js")
        super().__init__(
            _data={"payload": payload},
            _view=view,
            _height=height,
            _language=language(),
            _view_script=script,
            _view_build=build,
        )
        self.on_msg(self._answer)
        self._stored_payload = stored()
        if self._stored_payload is not payload:
            self._stored = {"payload": self._stored_payload}

    def _still_html(self, note: str) -> str:
        """Return a still picture's HTML; what makes it has the whole trace, and is let go of."""
        if not isinstance(self._still_content, str):
            self._still_content = self._still_content()
        return still_html(self._still_content, note)

    def _answer(self, _widget: Any, asked: Any, _buffers: Any) -> None:
        """Make the page that the export menu asks for (js/src/jupyter/asked_page.ts)."""
        if not isinstance(asked, dict) or asked.get("kind") != "page":
            return
        answer = {"kind": "page", "id": asked.get("id")}
        self.send({**answer, "kind": "page_begun"})
        try:
            page = self._page_of(self._data["payload"]).encode("utf-8")
        except Exception as error:  # noqa: BLE001  (whatever it is, who asked is told)
            self.send({**answer, "error": f"{type(error).__name__}: {error}"})
        else:
            self.send(answer, [page])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        _, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        missing = say("environments.page_lacks_anywidget", version=ANYWIDGET_VERSION)
        return {
            **self._view_of(self._still_html(missing)),
            **graph_bundle(
                stored=self._stored_payload,
                is_reduced=bool(self._stored),
                view=self._view,
                height=self._height,
                html=self._still_html(say("environments.still_elsewhere")),
                text=self._text,
                widget={"model_id": self.model_id, "anywidget": ANYWIDGET_VERSION},
                language=language(),
            ),
        }, metadata
