"""Begins a kernel's flight record, and reports how the notebook's previous kernel died."""

from __future__ import annotations

import sys
from typing import Any

from IPython.display import display

from paddle_lab.crash_reports import last_crash
from paddle_lab.flights.folder import KEPT, flights_folder, own_name
from paddle_lab.notebook_cells import running_notebook


def begin_flights(shell: Any) -> None:
    """Report a crash of the previous kernel, and begin a flight record for this kernel.

    In a terminal nothing is recorded, because a terminal shows how a process ends.
    """
    notebook = running_notebook()
    if notebook is None or KEPT:
        return
    crash = last_crash()
    if crash is not None:
        display(crash)
    try:
        KEPT.append((flights_folder(), own_name(notebook)))
    except OSError:
        return
    _note_shutdowns(shell.kernel)


def _note_shutdowns(kernel: Any) -> None:
    """Record each request to shut down, because a busy kernel may be killed soon afterwards."""
    shut_down = kernel.do_shutdown

    def noted(*args: Any, **kwargs: Any) -> Any:
        record = sys.modules.get("paddle_lab.capture.flight.flight_record")
        if record is not None:
            record.FLIGHT.note("shutdown")
        return shut_down(*args, **kwargs)

    kernel.do_shutdown = noted
