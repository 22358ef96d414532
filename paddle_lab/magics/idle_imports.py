"""Imports, soon after the extension is loaded, the modules that record and show traces."""

from __future__ import annotations

import sys
from contextlib import suppress

_DELAY_S = 0.01
"""After this delay, the answer to ``%load_ext`` has been sent."""


def import_when_idle() -> None:
    """Import the modules while the kernel is idle, so that the first picture appears sooner.

    Without an event loop, as in a terminal, each module is imported when it is needed.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    with suppress(RuntimeError):
        asyncio.get_running_loop().call_later(_DELAY_S, _import)


def _import() -> None:
    # If a package is missing, the code that needs it reports this.
    with suppress(ImportError):
        import paddle_lab.analysis.findings.find
        import paddle_lab.analysis.findings.finding
        import paddle_lab.holders.record
        import paddle_lab.views.html.fallback
        import paddle_lab.views.reduction.stored
        import paddle_lab.views.widgets.graph_widget
        from paddle_lab.analysis.findings.registry import checks

        checks()  # this imports the module of each check
    with suppress(ImportError):
        import paddle_lab.capture.replay.values
        import paddle_lab.capture.session
        import paddle_lab.magics.traced_cell  # noqa: F401
