"""Shows a note below the traceback of a traced cell: the meaning of the error, and advice."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.capture.recorder.faults import described
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.analysis.findings.finding import Finding


def show_error_note(trace: Trace, error: BaseException | None, *, has_page: bool) -> None:
    """Show what is known about the error that ended a cell, if anything is known.

    Parameters
    ----------
    trace
        The cell's trace.
    error
        The exception that ended the cell.
    has_page
        Whether a view is shown below. The view shows findings above its graph, so this note omits
        them.
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
        # Some findings explain why a backward call failed.
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


_WORTH = 0.15
"""If at least this share of memory is from before the cell, the report lists its holders."""


def report_out_of_memory(trace: Trace, error: BaseException | None, memory: NotebookMemory) -> None:
    """Show a memory report if ``error`` is Paddle's out-of-memory error.

    Parameters
    ----------
    trace
        The cell's trace. If it recorded memory, it has the blocks at the time of the error.
    error
        The exception that ended the cell.
    memory
        Finds the living tensors. The traceback still holds most tensors that were alive at the
        error.
    """
    from paddle_lab.analysis.memory.advice.failed_request import is_out_of_memory

    text = trace.record.origin.exception
    if error is None or not is_out_of_memory(text):
        return
    found = trace.memory.out_of_memory if len(trace.record.memory_totals) else None
    if found is None:
        _report_what_is_alive(trace, text, memory)
        return
    print(found)  # noqa: T201  (the answer of a command)
    # If most memory is older than the cell, the trace knows only its sum. So show all tensors.
    if trace.memory.unseen_bytes >= _WORTH * found.allocated_bytes:
        display(memory.report(memory.living()))


def _report_what_is_alive(trace: Trace, text: str, memory: NotebookMemory) -> None:
    from paddle_lab.analysis.memory.advice.advice import last_resort
    from paddle_lab.analysis.memory.advice.failed_request import failed_request
    from paddle_lab.analysis.memory.advice.out_of_memory import what_to_do

    request = failed_request(trace.ops, text)
    allocated_bytes = memory.allocated_bytes()
    print(request.headline(allocated_bytes))  # noqa: T201
    display(memory.report(memory.living()))
    advice = [request.advice(allocated_bytes) or last_resort(), say("magics.memory_of_cell")]
    print(what_to_do(advice))  # noqa: T201
