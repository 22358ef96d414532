"""A cell with ``%%paddle_trace`` or ``%%paddle_mem``: it is recorded, and then shown."""

from __future__ import annotations

import sys
from argparse import Namespace
from types import FrameType, NoneType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display
from IPython.utils.capture import capture_output

from paddle_lab.analysis.findings.registry import chosen, rerun_kinds
from paddle_lab.api import Trace
from paddle_lab.comparing import compare, digest_decimals_of
from paddle_lab.garbage import collection_paused
from paddle_lab.holders.living import releasable_bytes, storages
from paddle_lab.magics.cell_rerun import cell_rerun
from paddle_lab.magics.error_note import report_out_of_memory, show_error_note
from paddle_lab.magics.free_button import show_free_button
from paddle_lab.magics.memory.ledger_keeper import find_holders, ledger_entry
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.magics.stall_note import StallNote
from paddle_lab.magics.waiting_note import WaitingNote
from paddle_lab.recording import Recording
from paddle_lab.rerunning import compare_with_second_run
from paddle_lab.views.text.memory_report import LedgerLine
from paddle_lab.words import say

if TYPE_CHECKING:
    from paddle_lab.capture.flight.stalls import StallWatch

LATEST = "_trace"
"""The name of the variable with the latest trace."""
COMPARISON = "_comparison"
"""The name of the variable with the latest comparison of ``--against``."""


class TracedCell:
    """A cell that is being recorded.

    Parameters
    ----------
    shell
        The shell that runs the cell.
    options
        The result of :meth:`paddle_lab.magics.options.CellOptions.parse`.
    memory
        Finds living tensors, and keeps the ledger.
    number
        The cell's execution count.
    anchor
        The frame that runs the cell.
    records_memory
        Whether to record also allocations, and the holders of blocks that stay allocated.

    Raises
    ------
    UsageError
        If no supported Paddle is installed, or ``-o`` names a variable that is not a trace.
    """

    def __init__(
        self,
        shell: Any,
        options: Namespace,
        memory: NotebookMemory,
        *,
        number: int,
        anchor: FrameType | None,
        records_memory: bool,
    ) -> None:
        self._shell = shell
        self._options = options
        self._memory = memory
        self._number = number
        self._records_memory = records_memory
        self._refuse_to_replace(options.output)
        self._against = self._trace_named(options.against)
        if self._against is not None and options.decimals is None:
            options.decimals = digest_decimals_of(self._against)
        self._recording = Recording(
            title=options.title or say("reports.title.cell", cell=number),
            anchor=anchor,
            memory=records_memory,
            check=options.check,
            grads=options.grads,
            values=options.values,
            digest=options.digest,
            decimals=options.decimals,
            profile=options.profile,
            log=options.log,
            reruns=True,
            limit=options.limit,
            replay_mb=options.replay_mb,
        )
        try:
            kinds = rerun_kinds(chosen(options.check))
            self._rerun = cell_rerun(shell, number, kinds) if kinds else None
            self._trace: Trace = self._recording.__enter__()
        except ImportError as error:
            raise UsageError(str(error)) from None
        self._stalls = self._watch()

    def finish(self, error: BaseException | None) -> None:
        """End the recording after the cell, also after an error. Store the trace, and show it."""
        if self._stalls is not None:
            self._stalls.close()
        trace, memory, is_quiet = self._trace, self._memory, self._options.quiet
        count, log_bytes = self._recording.op_count, self._recording.log_bytes
        note = WaitingNote(*((0, 0) if error or is_quiet else (count, log_bytes)))
        note.tell(say("magics.waiting.record", n=count))
        self._recording.__exit__(type(error) if error else None, error, None)
        # Find the holders first, because a second run may move tensors to other addresses.
        tensors = find_holders(trace, memory) if self._records_memory else []
        self._run_again(error)
        self._keep()
        has_totals = len(trace.record.memory_totals) > 0
        entry = ledger_entry(trace, self._number, tensors) if has_totals else None
        if entry is not None:
            memory.ledger.append(entry)
        if is_quiet:
            self._compared()
            return
        show_error_note(trace, error, has_page=memory.has_page)
        self._show(note)
        report_out_of_memory(trace, error, memory)
        if entry is not None:
            display(LedgerLine(entry, leak=trace.memory.leak))
            show_free_button(memory, releasable_bytes(storages(tensors)))

    def _watch(self) -> StallWatch | None:
        """Begin to show what the threads do while no op runs. This works only in a kernel."""
        if getattr(self._shell, "kernel", None) is None:
            return None
        from paddle_lab.capture.flight.stalls import StallWatch

        recording, note = self._recording, StallNote(self._shell)
        quiet = self._options.quiet
        return StallWatch(lambda: None if quiet else recording.recorded_op_count, note.tell)

    def _run_again(self, error: BaseException | None) -> None:
        """Run the cell a second time if a check needs this."""
        again, self._rerun = self._rerun, None
        if again is not None and self._recording.hooked is not None:
            with capture_output():
                record = again.finish(self._trace.record, self._recording.hooked, error)
            self._trace.complete(record)
            compare_with_second_run(self._trace, again)

    def _keep(self) -> None:
        """Assign the trace to variables, and save it if ``--save`` is given."""
        variables, name, path = self._shell.user_ns, self._options.output, self._options.save
        variables[LATEST] = self._trace
        if name and isinstance(variables.get(name), (Trace, NoneType)):
            variables[name] = self._trace
        elif name:
            sys.stderr.write(say("magics.cell_set_it", name=name, latest=LATEST) + "\n")
        if not path:
            return
        try:
            self._trace.save(path)
        except OSError as error:
            reason = error.strerror or error
            sys.stderr.write(say("magics.not_saved", path=path, error=reason) + "\n")

    def _show(self, note: WaitingNote) -> None:
        """Show the trace below the cell."""
        count, options = len(self._trace.record.ops), self._options
        try:
            with collection_paused():
                note.tell(say("magics.waiting.checks", n=count))
                compared = self._compared()
                _ = compared.findings
                note.tell(say("magics.waiting.picture", n=count))
                shown = compared.shown(
                    view=options.view, height=options.height, show_early=note.show_early
                )
                note.give_way(shown)
        except OSError as error:  # a checkout whose front end has not been built
            note.tell("")
            sys.stderr.write(say("magics.no_graph", error=error) + "\n")

    def _compared(self) -> Trace:
        """Return the comparison with ``--against`` or a second run. Without it, the trace."""
        comparison: Trace | None = self._trace.comparison
        try:
            if self._against is not None:
                comparison = compare(self._against, self._trace)
            if comparison is None:
                return self._trace
            _ = comparison.record
        except Exception as error:  # noqa: BLE001  (the cell has run, and its trace is shown)
            told = f"{type(error).__name__}: {error}"
            sys.stderr.write(say("magics.not_compared", error=told) + "\n")
            return self._trace
        self._shell.user_ns[COMPARISON] = comparison
        return comparison

    def _trace_named(self, name: str | None) -> Trace | None:
        """Return the trace that ``--against`` names, before the cell may replace it.

        Raises
        ------
        UsageError
            If there is no such trace.
        """
        if name is None:
            return None
        trace = self._shell.user_ns.get(LATEST if name == "last" else name)
        if not isinstance(trace, Trace) or trace.is_recording:
            raise UsageError(say("magics.no_trace", name=name))
        return trace

    def _refuse_to_replace(self, name: str | None) -> None:
        """Raise an error before the cell runs if the trace would replace a variable of the user."""
        there = self._shell.user_ns.get(name)
        if not isinstance(there, (Trace, NoneType)):
            kind = type(there).__name__
            raise UsageError(say("magics.would_replace", name=name, type=kind))
