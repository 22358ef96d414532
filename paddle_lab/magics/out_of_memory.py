"""Below the traceback of an out-of-memory error: what was alive, and what to do."""

from __future__ import annotations

from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.magics.notebook_memory import NotebookMemory


def report_out_of_memory(trace: Trace, error: BaseException | None, memory: NotebookMemory) -> None:
    """Show the report if ``error`` is Paddle's out-of-memory error.

    Parameters
    ----------
    trace
        The cell's trace; where it recorded memory, it knows what was alive in that moment.
    error
        What ended the cell.
    memory
        Knows what is alive now, which is most of what was: the traceback holds it.
    """
    from paddle_lab.analysis.memory.out_of_memory import is_out_of_memory

    if error is None or not is_out_of_memory(f"{type(error).__name__}: {error}"):
        return
    if len(trace.record.memory_totals):
        found = trace.memory.out_of_memory
        if found is not None:
            print(found)  # noqa: T201  (the answer of a command)
            return
    from paddle_lab.views.memory_report import MemoryReport

    living = memory.living()
    allocated = {place: counters["allocated"] for place, counters in memory.read().items()}
    report = MemoryReport((), living.tensors(), allocated=allocated, is_complete=living.is_complete)
    print("Out of memory. Put %%paddle_mem on the cell to see what was allocated when.")  # noqa: T201
    display(report)
