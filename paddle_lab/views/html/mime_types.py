"""Types of output that our JupyterLab plugin shows; as in js/src/labextension/output_data.ts."""

from typing import Final

GRAPH_MIME_TYPE: Final = "application/vnd.paddle-lab.graph+json"
"""A graph: drawn as its widget, and where there is none, from the output's own data."""
LIVE_MIME_TYPE: Final = "application/vnd.paddle-lab.live+json"
"""What lives as long as its kernel: drawn as its widget, and where there is none, a text."""
