"""What ``%%paddle_trace`` and ``%%paddle_mem`` share: a cell that is recorded and then shown."""

from __future__ import annotations

import sys
from argparse import Namespace
from types import FrameType
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from paddle_lab.api import Trace, WidgetView
from paddle_lab.garbage import collection_paused
from paddle_lab.recording import Recording

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
        If there is no Paddle that can be traced.
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
        self.options = options
        title = options.title or f"Cell {number}"
        self._recording = Recording(
            title=title, anchor=anchor, memory=memory, check=options.check, grads=options.grads
        )
        try:
            self.trace: Trace = self._recording.__enter__()
        except ImportError as error:
            raise UsageError(str(error)) from None

    def end(self, error: BaseException | None) -> None:
        """End the recording."""
        self._recording.__exit__(type(error) if error else None, error, None)

    def keep(self) -> None:
        """Bind the trace to its variables and save it, as the options say."""
        self._shell.user_ns[LATEST] = self.trace
        if self.options.output:
            self._shell.user_ns[self.options.output] = self.trace
        if self.options.save:
            self._save(self.options.save)

    def show(self, view: WidgetView) -> None:
        """Show the trace below the cell."""
        try:
            with collection_paused():
                display(self.trace.widget(view=view, height=self.options.height))
        except OSError as error:  # a checkout whose front end has not been built
            sys.stderr.write(f"The graph cannot be shown: {error}\n")

    def _save(self, path: str) -> None:
        try:
            self.trace.save(path)
        except OSError as error:
            message = f"The trace could not be saved to {path}: {error.strerror or error}\n"
            sys.stderr.write(message)
