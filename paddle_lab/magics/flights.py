"""Begins the flight record of a kernel, and reports how the notebook's last kernel died."""

from __future__ import annotations

import sys
from typing import Any

from IPython.display import display

from paddle_lab.crash_reports import last_crash
from paddle_lab.flights.folder import KEPT, flights_folder, own_name
from paddle_lab.notebook_cells import running_notebook


def begin_flights(shell: Any) -> None:
    """Report a crash once, and let traces of this kernel be recorded in files.

    Without a kernel, as in a terminal, nothing is recorded: the terminal shows how a process ends.
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
    """Note a request to shut down, since a busy kernel may be killed soon after it."""
    shut_down = kernel.do_shutdown

    def noted(*args: Any, **kwargs: Any) -> Any:
        record = sys.modules.get("paddle_lab.capture.flight.flight_record")
        if record is not None:
            record.FLIGHT.note("shutdown")
        return shut_down(*args, **kwargs)

    kernel.do_shutdown = noted
