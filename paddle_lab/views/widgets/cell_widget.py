"""A widget that belongs to a cell: its messages, its opening and closing, its substitute."""

from __future__ import annotations

import contextvars
import sys
from functools import partial
from typing import Any, Final

import anywidget
import ipywidgets
import traitlets
from comm import get_comm_manager

from paddle_lab.views.widgets.shown_widgets import SHOWN, close_whole
from paddle_lab.words import say

_WIDGET_MIME_TYPE: Final = "application/vnd.jupyter.widget-view+json"


class CellWidget(anywidget.AnyWidget):
    """A widget whose messages all belong to the cell that made it.

    ipykernel 7.4 passes a page's message to the subshell in which the widget last sent something
    (``BaseComm._reply_subshell_for``). If a thread sends, this is the subshell of the last request.
    JupyterLab ends a page's subshells with the page, so messages of the next page would be lost. So
    the widget always sends in the context of its cell, whose shell stays.

    The widget is closed when no cell shows it any more (:mod:`shown_widgets`). It opens again when
    it is displayed again.
    """

    # The "model_id" of this widget's substitute and, after a page has loaded this widget, the
    # "outputs" of the substitute (js/src/jupyter/take_place.ts).
    _stand_in = traitlets.Dict().tag(sync=True)

    def __init__(self, **state: Any) -> None:
        self._cell = contextvars.copy_context()
        self._substitute: ipywidgets.Output | None = None
        super().__init__(**state)
        self.on_msg(self._hear)
        self._stand()

    def close(self) -> None:
        """Remove the widget from the page, and free the copy of its data in the page."""
        SHOWN.forget(self)
        if self.comm is None:
            return
        super().close()
        # If this attribute stayed, the widget could not be displayed again.
        self.__dict__.pop("_repr_mimebundle_", None)
        self.layout.close()
        if self._substitute is not None:
            close_whole(self._substitute)
            self._substitute, self._stand_in = None, {}

    def is_at_work(self) -> bool:
        """Whether the widget must stay open even if no page shows it."""
        return False

    def hear(self, content: Any) -> None:
        """Handle a message from the page. Messages arrive between cells."""

    def substitute_html(self, note: str) -> str:
        """Return HTML for a page that cannot load the widget. ``note`` says what is missing."""
        raise NotImplementedError

    def output_data(self, widget: dict[str, str]) -> dict[str, Any]:
        """Return the output's other data by type. ``widget`` identifies the widget in this data."""
        raise NotImplementedError

    def _hear(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if not SHOWN.hear(self, content):
            self.hear(content)

    def _stand(self) -> None:
        ask = partial(self.send, {"kind": "count_views"})
        SHOWN.stand(self, self.close, ask, self.is_at_work)

    def _send(self, msg: Any, buffers: Any = None) -> None:
        # Use a copy of the context: two threads may send at once, but cannot enter the same
        # context.
        self._cell.copy().run(super()._send, msg, buffers)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self.comm is None:
            self.layout.open()
            self.open()
        self._stand()
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        _, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        missing = say("environments.page_lacks_anywidget", version=anywidget.__version__)
        view = self._view_of(self.substitute_html(missing))
        return {**view, **self.output_data(self._identity())}, metadata

    def _identity(self) -> dict[str, str]:
        # The page must have the same version of anywidget.
        return {"model_id": self.model_id, "anywidget": anywidget.__version__}

    @traitlets.observe("comm")
    def _keep_open(self, change: Any) -> None:
        """Keep the comm open for the next page.

        A page without a widget manager closes the comm of each widget. Messages from a later page
        with a widget manager would then go to a closed comm.
        """
        comm = change["new"]

        def open_again(_message: Any) -> None:
            comm._closed = False  # noqa: SLF001
            get_comm_manager().register_comm(comm)

        if comm is not None:
            comm.on_close(open_again)

    def _view_of(self, html: str) -> dict[str, Any]:
        """Return the view of this widget, as an output's data.

        A page that cannot load a widget shows a red error. The kernel does not know whether the
        Jupyter server has anywidget. So the output is a standard HTML widget, the substitute. A
        page that can load this widget replaces the substitute by this widget.

        Parameters
        ----------
        html
            The HTML shown instead of this widget.
        """
        view = _view(self.model_id)
        # Colab's page makes a widget only when it is displayed. Inside a substitute it would never
        # be.
        if "google.colab" in sys.modules:
            return view
        if self._substitute is None:
            self._substitute = ipywidgets.Output(outputs=_outputs({"text/html": html}))
            self._stand_in = {"model_id": self._substitute.model_id, "outputs": _outputs(view)}
        return _view(self._substitute.model_id)


def _view(model_id: str) -> dict[str, Any]:
    return {_WIDGET_MIME_TYPE: {"version_major": 2, "version_minor": 0, "model_id": model_id}}


def _outputs(data: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return ({"output_type": "display_data", "data": data, "metadata": {}},)
