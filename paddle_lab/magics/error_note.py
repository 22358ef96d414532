"""A note below the traceback of a traced cell: the meaning of the error, and advice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.capture.recorder.faults import described
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.analysis.findings.finding import Finding


def show_error_note(trace: Trace, error: BaseException | None, *, has_page: bool) -> None:
    """Show what is known about the error that ended a cell, if anything.

    Parameters
    ----------
    trace
        The cell's trace.
    error
        The exception that ended the cell.
    has_page
        Whether a view follows. It shows findings above its graph, so this note omits them.
    """
    if error is None:
        return
    try:
        _show(trace, has_page=has_page)
    except Exception as fault:  # noqa: BLE001  (the user's own error is above, and comes first)
        sys.stderr.write(say("magics.no_advice", fault=described(fault)) + "\n")


def _show(trace: Trace, *, has_page: bool) -> None:
    from paddle_lab.error_help.lookup import error_help, kinds_that_explain
    from paddle_lab.views.text.error_note import ErrorNote

    raised = trace.record.origin.exception
    kinds = set(kinds_that_explain(raised))
    errors = [call.error for call in trace.backward_calls if call.error]
    ended_in_backward = bool(errors) and errors[-1] in raised
    explaining: list[Finding] = []
    explained: set[str] = set()
    for finding in trace.findings:
        # Some findings name the cause of a backward call that failed.
        is_cause = any(mark.role == "failed" for mark in finding.marks)
        explains = finding.kind in kinds or (ended_in_backward and is_cause)
        if finding.severity == "error" and explains:
            explaining = [finding]
            explained = {finding.kind, "backward-failed"} if is_cause else {finding.kind}
            break
    helps = error_help(raised, explained=explained, reported=False)
    note = ErrorNote([] if has_page else explaining, helps)
    if note:
        display(note)
