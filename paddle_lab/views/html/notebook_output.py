"""The output of a graph in a notebook, with or without a widget."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.words import language, say

# Types of output that our JupyterLab plugin shows. js/src/labextension/graph_mime.ts has the same.
GRAPH_MIME_TYPE: Final = "application/vnd.paddle-lab.graph+json"
"""A graph. The plugin shows its widget, or draws the output's own data if there is no widget."""
LIVE_MIME_TYPE: Final = "application/vnd.paddle-lab.live+json"
"""A live chart. The plugin shows its widget, or a text if there is no widget."""


class GraphOutput:
    """The output of a graph, as a notebook shows and stores it.

    Parameters
    ----------
    payload
        A record with its answer tables, packed.
    stored
        Returns the bytes that a notebook stores: the payload, or a reduced copy if it is too large.
    still_content
        Returns the HTML that a notebook stores for pages without widgets.
    text
        The text for a terminal.
    view
        The view to show first.
    height
        Height of the view, in pixels.
    """

    def __init__(
        self,
        *,
        payload: bytes,
        stored: Callable[[], bytes],
        still_content: Callable[[], str],
        text: str,
        view: str,
        height: int,
    ) -> None:
        self.payload = payload
        # These functions hold the whole trace, so each is replaced by its result after the first
        # call.
        self._stored: Callable[[], bytes] | bytes = stored
        self._still_content: Callable[[], str] | str = still_content
        self._text = text
        self.view = view
        self.height = height

    @property
    def stored(self) -> bytes:
        """The bytes that a notebook stores: the payload, or a reduced copy."""
        if callable(self._stored):
            self._stored = self._stored()
        return self._stored

    def still_html(self, note: str) -> str:
        """Return the HTML shown instead of the graph. ``note`` says why, and what to do."""
        if callable(self._still_content):
            self._still_content = self._still_content()
        return still_html(self._still_content, note)

    def early_data(self, widget: dict[str, str]) -> dict[str, Any]:
        """Return a first version of the output's data, without the data that a notebook stores.

        Parameters
        ----------
        widget
            Identifies the widget, which has the data already.
        """
        return {GRAPH_MIME_TYPE: {"widget": widget, "language": language()}}

    def data(self, note: str, /, **more: Any) -> dict[str, Any]:
        """Return the output's data by type.

        Parameters
        ----------
        note
            The sentence above the picture, for pages that cannot draw the graph, such as those of
            nbconvert.
        more
            More data for our JupyterLab plugin.
        """
        # If there is no kernel and no widget, our JupyterLab plugin draws the graph from this.
        graph = {
            "payload": base64.b64encode(self.stored).decode("ascii"),
            "height": self.height,
            "view": self.view,
            **({"is_reduced": True} if self.stored is not self.payload else {}),
            **more,
            "language": language(),
        }
        return {
            GRAPH_MIME_TYPE: graph,
            "text/html": self.still_html(note),
            "text/plain": self._text,
        }


class StillGraph:
    """Shows a graph without a widget. Our JupyterLab plugin draws it; other pages show a picture.

    Parameters
    ----------
    output
        The graph.
    note
        Why there is no widget, and what to do.
    """

    def __init__(self, output: GraphOutput, note: str) -> None:
        self._output = output
        self._note = note

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ARG002
        return self._output.data(self._note, note=self._note)


def still_html(content: str, note: str) -> str:
    """Return the HTML shown instead of a graph.

    Parameters
    ----------
    content
        The result of :func:`~paddle_lab.views.html.fallback.still_content`.
    note
        Why the graph itself is not shown, and what to do. Code is in backticks.
    """
    sentences = sentence_html(say("environments.still", reason=note))
    return f"<div><p><i>{sentences}</i></p>{content}</div>"


def kernel_lacks(error: ImportError) -> str:
    """Return a sentence: which package for widgets is missing in the kernel, and what to do.

    Parameters
    ----------
    error
        The error raised by the import of the widgets. For a missing module, the sentence names its
        top-level package.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return say("environments.kernel_lacks", package=error.name.partition(".")[0])
    return say("environments.kernel_fails", error=f"{type(error).__name__}: {error}")
