"""The output of a graph in a notebook, with or without a widget."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from paddle_lab.analysis.tables.text_table import sentence_html
from paddle_lab.words import language, say

# Types of output that our JupyterLab plugin shows; also in js/src/labextension/graph_mime.ts.
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
        Makes the bytes that a notebook stores: the payload, or a reduced copy if it is too large.
    still_content
        Makes the HTML that a notebook keeps for readers without widgets.
    text
        The text for a terminal.
    view
        The graph to show first.
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
        # Dropped once called, because they hold the whole trace.
        self._stored: Callable[[], bytes] | bytes = stored
        self._still_content: Callable[[], str] | str = still_content
        self._text = text
        self.view = view
        self.height = height

    @property
    def stored(self) -> bytes:
        """The payload that a notebook stores, whole or reduced."""
        if callable(self._stored):
            self._stored = self._stored()
        return self._stored

    def still_html(self, note: str) -> str:
        """Return the HTML shown instead of the graph; ``note`` says why, and what to do."""
        if callable(self._still_content):
            self._still_content = self._still_content()
        return still_html(self._still_content, note)

    def early_data(self, widget: dict[str, str]) -> dict[str, Any]:
        """Return the output's data before what a notebook stores is made.

        Parameters
        ----------
        widget
            Identifies the widget, which has the data.
        """
        return {GRAPH_MIME_TYPE: {"widget": widget, "language": language()}}

    def data(self, note: str, /, **more: Any) -> dict[str, Any]:
        """Return the output's data by type.

        Parameters
        ----------
        note
            The sentence above the picture, for pages that cannot draw the graph, such as nbconvert.
        more
            More data for our JupyterLab plugin.
        """
        # Paddle Lab's plugin for JupyterLab draws this if there is no kernel and no widget.
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
    """Shows a graph without a widget: our JupyterLab plugin draws it, other pages show a picture.

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
        Why the graph itself is not shown, and what to do; code is between backticks.
    """
    sentences = sentence_html(say("environments.still", reason=note))
    return f"<div><p><i>{sentences}</i></p>{content}</div>"


def kernel_lacks(error: ImportError) -> str:
    """Return which package for widgets the kernel's environment lacks, and what to do about it.

    Parameters
    ----------
    error
        The error of importing the widgets. A missing module is named by its top-level
        package.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return say("environments.kernel_lacks", package=error.name.partition(".")[0])
    return say("environments.kernel_fails", error=f"{type(error).__name__}: {error}")
