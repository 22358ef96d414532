"""A graph as a notebook's output beside its widget, or where it has none."""

from __future__ import annotations

import base64
from typing import Any

from paddle_lab.views.html.mime_types import GRAPH_MIME_TYPE


def graph_bundle(
    *,
    stored: bytes,
    is_reduced: bool,
    view: str,
    height: int,
    html: str,
    text: str,
    **more: Any,
) -> dict[str, Any]:
    """Return an output's data by type.

    Parameters
    ----------
    stored
        What is stored of the record: a payload, whole or reduced.
    is_reduced
        Whether the kernel has more.
    view
        The graph to show first.
    height
        Height of the view, in pixels.
    html
        Shown by nbconvert, and wherever else no graph can be drawn.
    text
        What a terminal shows.
    more
        What else our JupyterLab plugin is told.
    """
    return {
        # Drawn by our JupyterLab plugin where there is no kernel and no widget.
        GRAPH_MIME_TYPE: {
            "payload": base64.b64encode(stored).decode("ascii"),
            "height": height,
            "view": view,
            **({"is_reduced": True} if is_reduced else {}),
            **more,
        },
        "text/html": html,
        "text/plain": text,
    }
