"""The report below the traceback of an out-of-memory error: living tensors and advice."""

from __future__ import annotations

from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.words import say

_WORTH = 0.15
"""If at least this share of the memory is from before the cell, the report lists its holders."""


def report_out_of_memory(trace: Trace, error: BaseException | None, memory: NotebookMemory) -> None:
    """Show the report if ``error`` is Paddle's out-of-memory error.

    Parameters
    ----------
    trace
        The cell's trace. If it recorded memory, it has the blocks at the time of the error.
    error
        The exception that ended the cell.
    memory
        Finds the living tensors; the traceback still holds most tensors of that time.
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
    # Most memory may be from before the cell; the trace knows only its sum.
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
