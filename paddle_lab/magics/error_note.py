"""Below the traceback of a traced cell: what the error means, and what to do."""

from __future__ import annotations

import sys

from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.capture.faults import described
from paddle_lab.words import say


def show_error_note(trace: Trace, error: BaseException | None) -> None:
    """Show what is known of the error that ended a cell; nothing where nothing is.

    Parameters
    ----------
    trace
        The cell's trace.
    error
        What ended the cell.
    """
    if error is None:
        return
    try:
        _show(trace)
    except Exception as fault:  # noqa: BLE001  (the user's own error is above, and comes first)
        sys.stderr.write(say("magics.no_advice", fault=described(fault)) + "\n")


def _show(trace: Trace) -> None:
    from paddle_lab.error_help.lookup import error_help, kinds_that_explain
    from paddle_lab.views.error_note import ErrorNote

    raised = trace.record.origin.exception
    kinds = set(kinds_that_explain(raised))
    if _ended_in_backward(trace, raised):
        kinds |= {"inplace-modified", "backward-failed"}
    explaining = [
        finding
        for finding in trace.findings
        if finding.severity == "error" and finding.kind in kinds
    ][:1]
    note = ErrorNote(
        explaining,
        error_help(raised, explained={one.kind for one in explaining}, reported=False),
    )
    if note:
        display(note)


def _ended_in_backward(trace: Trace, raised: str) -> bool:
    """Tell whether it was a backward call that ended the cell, and nothing later."""
    errors = [call.error for call in trace.backward_calls if call.error]
    return bool(errors) and errors[-1] in raised
