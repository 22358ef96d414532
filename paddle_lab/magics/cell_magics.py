"""Cell magics that leave the execution of the cell to IPython.

The cell magics are input transformations: if a cell starts with ``%%paddle_trace``, its first line
is replaced by a call that begins the trace. The trace ends when IPython reports the end of the
cell. So IPython itself runs the user's code. Its value, ``;``, ``await``, exceptions, interrupts
and line numbers are the same as without the magic, and tracebacks contain no frame of ours.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import cell_magic

from paddle_lab.magics.memory.ledger_keeper import LedgerKeeper
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.magics.options import CELL_MAGICS, CellOptions, explained
from paddle_lab.notebook_cells import NotebookCells
from paddle_lab.words import say

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from paddle_lab.magics.traced_cell import TracedCell

_BEGIN = "__paddle_lab_begin__"
_FIRST_LINE = re.compile(rf"%%(?P<name>{'|'.join(CELL_MAGICS)})(?P<options>[ \t].*|)\s*$")


class CellMagics:
    """``%%paddle_trace`` and ``%%paddle_mem`` in an IPython shell. Only one runs at a time.

    Parameters
    ----------
    shell
        The shell.
    memory
        The notebook's memory and ledger.
    keeper
        Adds each cell to the ledger.
    """

    def __init__(
        self, shell: InteractiveShell, memory: NotebookMemory, keeper: LedgerKeeper
    ) -> None:
        self._shell: Any = shell
        self._memory = memory
        self._keeper = keeper
        self._depth = 0
        self._running: tuple[TracedCell, int] | None = None

    def register(self) -> None:
        """Register the magics with the shell."""
        shell = self._shell
        for name, options in CELL_MAGICS.items():
            run = self._run_of(name, options)
            shell.register_magic_function(run, magic_kind="cell", magic_name=name)
        shell.input_transformers_cleanup.append(self.transform)
        shell.events.register("pre_run_cell", self._enter_cell)
        shell.events.register("post_run_cell", self._leave_cell)
        shell.user_ns_hidden[_BEGIN] = shell.user_ns[_BEGIN] = self.begin

    def unregister(self) -> None:
        """Remove the magics."""
        self._finish(None)
        shell = self._shell
        for name in CELL_MAGICS:
            shell.magics_manager.magics["cell"].pop(name, None)
        shell.input_transformers_cleanup.remove(self.transform)
        shell.events.unregister("pre_run_cell", self._enter_cell)
        shell.events.unregister("post_run_cell", self._leave_cell)
        shell.user_ns.pop(_BEGIN, None)
        shell.user_ns_hidden.pop(_BEGIN, None)

    def _run_of(self, name: str, options: CellOptions) -> Callable[[str, str], None]:
        """Return a function that ``run_cell_magic()`` calls for a cell that was not transformed."""

        @explained(options.help)
        def run(line: str, cell: str) -> None:
            self._shell.run_cell(f"%%{name} {line}\n{cell}").raise_error()

        run.__doc__ = str(options.does)
        return run

    def transform(self, lines: list[str]) -> list[str]:
        """If the first line of a cell is one of the magics, replace this line by a call."""
        match = self._match(lines)
        if match is None:
            return lines
        name, options = match["name"], match["options"].strip()
        below = self._match(lines[1:])
        if below is not None:
            call = f"{_BEGIN}({name!r}, {options!r}, {below['name']!r})\n"
            return [call, *self.transform(lines[1:])]
        call = f"{_BEGIN}({name!r}, {options!r})\n"
        # The next line may be another cell magic. IPython does not transform it any more, so do it
        # here.
        return [call, *cell_magic(lines[1:])]

    def _match(self, lines: list[str]) -> re.Match[str] | None:
        match = _FIRST_LINE.match(lines[0]) if lines else None
        asks_for_help = match is not None and match["options"].rstrip().endswith("?")
        return None if asks_for_help else match

    def begin(self, name: str, line: str, below: str = "") -> None:
        """Begin a trace. The first line of the traced cell calls this function.

        Parameters
        ----------
        name
            The magic.
        line
            The options of the magic, as typed.
        below
            The other magic of Paddle Lab, if the next line has it. The other magic is then ignored.
        """
        frame = sys._getframe(1)  # noqa: SLF001  (CPython's documented way to the caller)
        file = frame.f_code.co_filename
        _show_magic_line(file, f"%%{name} {line}".rstrip(), frame.f_lineno)
        if below:
            sys.stderr.write(say("magics.left_out", name=name, below=below) + "\n")
            return
        self._finish(None)
        options = CELL_MAGICS[name].parse(line)
        # Usually these modules are imported already: %load_ext imports them while the kernel is
        # idle.
        from paddle_lab.magics.traced_cell import TracedCell

        running = TracedCell(
            self._shell,
            options,
            self._memory,
            number=self._number_of_cell(frame),
            anchor=frame.f_back,
            records_memory=name == "paddle_mem",
        )
        self._running = running, self._depth

    def _number_of_cell(self, frame: FrameType) -> int:
        """Return the execution count of the cell that contains a frame.

        Since IPython 9, the shell's own count is higher by one while a cell runs.

        If another magic is above ours (%%time, %%timeit), it runs our line in code that is not a
        cell.
        """
        cells = NotebookCells(self._shell)
        at: FrameType | None = frame
        while at is not None:
            number = cells.number(at.f_code.co_filename)
            if number >= 0:
                return number
            at = at.f_back
        return -1

    def _enter_cell(self, _info: Any) -> None:
        shell = self._shell
        if self._depth == 0:
            self._keeper.enter_cell(f"[{len(shell.history_manager.input_hist_raw)}]")
        self._depth += 1
        shell.user_ns_hidden[_BEGIN] = shell.user_ns[_BEGIN] = self.begin  # %reset removes it

    def _leave_cell(self, result: Any) -> None:
        self._depth = max(self._depth - 1, 0)
        try:
            # A cell that runs other cells (%run, %%capture) ends after these cells.
            if self._running is not None and self._depth < max(self._running[1], 1):
                error = getattr(result, "error_in_exec", None)
                self._finish(error if isinstance(error, BaseException) else None)
        finally:
            if self._depth == 0:
                self._keeper.leave_cell(getattr(result, "execution_count", None))

    def _finish(self, error: BaseException | None) -> None:
        if self._running is not None:
            (running, _), self._running = self._running, None
            running.finish(error)


def _show_magic_line(file: str, magic_line: str, number: int) -> None:
    """Make tracebacks show the magic's line as typed, instead of the call that replaced it."""
    entry = linecache.cache.get(file)
    if entry is None or len(entry) != 4 or len(entry[2]) < number:
        return
    if entry[2][number - 1].startswith(_BEGIN):
        # Write the magic as a comment, because IPython parses the source that it shows.
        entry[2][number - 1] = f"# {magic_line}\n"
