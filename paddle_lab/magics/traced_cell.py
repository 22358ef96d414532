"""What ``%%paddle_trace`` and ``%%paddle_mem`` share: a cell that is recorded and then shown."""

from __future__ import annotations

import sys
from argparse import Namespace
from types import FrameType, NoneType
from typing import Any

from IPython.core.error import UsageError

from paddle_lab.analysis.findings.registry import chosen, rerun_kinds
from paddle_lab.api import Trace, WidgetView
from paddle_lab.garbage import collection_paused
from paddle_lab.magics.cell_rerun import CellRerun
from paddle_lab.magics.waiting_note import WaitingNote
from paddle_lab.recording import Recording
from paddle_lab.words import say

LATEST = "_trace"
"""The variable that has the latest trace."""


class TracedCell:
    """A cell that is being recorded.

    Parameters
    ----------
    shell
        The shell that runs it.
    options
        As :func:`paddle_lab.magics.options.parse` returns them.
    number
        The cell's execution count.
    anchor
        The frame that runs the cell.
    memory
        Whether to record allocations as well.

    Raises
    ------
    UsageError
        If there is no Paddle that can be traced; if ``-o`` names a variable that is no trace.
    """

    def __init__(
        self,
        shell: Any,
        options: Namespace,
        *,
        number: int,
        anchor: FrameType | None,
        memory: bool = False,
    ) -> None:
        self._shell = shell
        self._note = WaitingNote(0)
        self.options = options
        self._refuse_to_replace(options.output)
        self.number = number
        title = options.title or say("reports.title.cell", cell=number)
        self._recording = Recording(
            title=title,
            anchor=anchor,
            memory=memory,
            check=options.check,
            grads=options.grads,
            reruns=True,
            limit=options.limit,
        )
        try:
            kinds = rerun_kinds(chosen(options.check))
            self._rerun = CellRerun(shell, number, kinds) if kinds else None
            self.trace: Trace = self._recording.__enter__()
        except ImportError as error:
            raise UsageError(str(error)) from None

    def end(self, error: BaseException | None) -> None:
        """End the recording; where a check needs it, run the cell once more."""
        if error is None and not self.options.quiet:
            self._note = WaitingNote(self._recording.op_count)
            self._note.tell(say("magics.waiting.record", n=self._recording.op_count))
        self._recording.__exit__(type(error) if error else None, error, None)
        again, self._rerun = self._rerun, None
        if again is not None and self._recording.run is not None:
            self.trace.complete(again.finish(self._recording.run, error))

    def keep(self) -> None:
        """Bind the trace to its variables and save it, as the options say."""
        self._shell.user_ns[LATEST] = self.trace
        if self.options.output:
            self._bind(self.options.output)
        if self.options.save:
            self._save(self.options.save)

    def show(self, view: WidgetView) -> None:
        """Show the trace below the cell."""
        try:
            with collection_paused():
                self._note.tell(say("magics.waiting.checks", n=len(self.trace.record.ops)))
                _ = self.trace.findings
                self._note.tell(say("magics.waiting.picture", n=len(self.trace.record.ops)))
                self._note.give_way(self.trace.shown(view=view, height=self.options.height))
        except OSError as error:  # a checkout whose front end has not been built
            self._note.tell("")
            sys.stderr.write(say("magics.no_graph", error=error) + "\n")

    def _refuse_to_replace(self, name: str | None) -> None:
        """Let no trace take the place of what somebody computed, before the cell has run."""
        there = self._shell.user_ns.get(name)
        if not isinstance(there, (Trace, NoneType)):
            kind = type(there).__name__
            raise UsageError(say("magics.would_replace", name=name, type=kind))

    def _bind(self, name: str) -> None:
        if isinstance(self._shell.user_ns.get(name), (Trace, NoneType)):
            self._shell.user_ns[name] = self.trace
            return
        sys.stderr.write(say("magics.cell_set_it", name=name, latest=LATEST) + "\n")

    def _save(self, path: str) -> None:
        try:
            self.trace.save(path)
        except OSError as error:
            reason = error.strerror or error
            sys.stderr.write(say("magics.not_saved", path=path, error=reason) + "\n")
