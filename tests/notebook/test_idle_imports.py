"""The modules that a real kernel imports between its cells."""

from __future__ import annotations

import time
from typing import Any

_RECORDING = (
    "paddle_lab.analysis.findings.checks.unused_graph",
    "paddle_lab.capture.session",
    "paddle_lab.magics.traced_cell",
)
_SHOWING = ("anywidget", "paddle_lab.views.html.fallback", "paddle_lab.views.widgets.graph_widget")
_LATER = (*_RECORDING, *_SHOWING)


def _printed(kernel: Any, code: str) -> str:
    """Run a cell; return all that it prints."""
    texts: list[str] = []
    kernel.execute_interactive(
        code,
        timeout=60,
        output_hook=lambda message: texts.append(message["content"].get("text", "")),
    )
    return "".join(texts)


def test_a_kernel_imports_what_a_trace_needs_while_it_waits(kernel: Any) -> None:
    missing = f"import sys; print([name for name in {_LATER} if name not in sys.modules])"
    # GIVEN a kernel that has loaded the extension, which imports nothing of it itself
    assert str(list(_LATER)) in _printed(kernel, f"%load_ext paddle_lab\n{missing}")
    # WHEN it waits for cells
    limit = time.monotonic() + 30
    while "[]" not in (printed := _printed(kernel, missing)):
        # THEN all that records and shows a trace is there after a while
        assert time.monotonic() < limit, printed
        time.sleep(0.2)
