"""A graph as an output where the kernel's environment has no widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lab.views.html.fallback import still_html
from paddle_lab.views.html.graph_bundle import graph_bundle
from paddle_lab.words import language


class StillGraph:
    """Shows a graph without a widget: our JupyterLab plugin draws it, other pages show a picture.

    Parameters
    ----------
    note
        Why there is no widget, and what to do.
    payload
        A record with its answer tables, packed.
    stored
        What a notebook stores of it: the payload itself, or less where that is too much.
    text
        What a terminal shows.
    still_content
        Makes what stands for the graph.
    view, height
        As of the widget.
    """

    def __init__(
        self,
        note: str,
        *,
        payload: bytes,
        stored: Callable[[], bytes],
        text: str,
        still_content: Callable[[], str],
        view: str,
        height: int,
    ) -> None:
        self._note = note
        self._payload = payload
        self._stored = stored
        self._text = text
        self._still_content = still_content
        self._view = view
        self._height = height

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:  # noqa: ARG002
        stored = self._stored()
        return graph_bundle(
            stored=stored,
            is_reduced=stored is not self._payload,
            view=self._view,
            height=self._height,
            html=still_html(self._still_content(), self._note),
            text=self._text,
            note=self._note,
            language=language(),
        )
