"""``%%paddle_trace``: thin, from arguments to the same public calls.

The magic is an input transformation: a cell that starts with ``%%paddle_trace`` becomes the same
cell with a call on its first line that begins the trace; the trace ends when IPython says that the
cell has. So IPython itself runs the user's code, and its value, ``;``, ``await``, exceptions,
interrupts and line numbers are what they are without the magic, with no frame of ours in a
traceback.
"""

from __future__ import annotations

import difflib
import keyword
import linecache
import os
import re
import shlex
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any, cast

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import cell_magic
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from paddle_lab.api import Trace
from paddle_lab.garbage import collection_paused
from paddle_lab.notebook_cells import NotebookCells
from paddle_lab.recording import Recording

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_MAGIC_LINE = re.compile(r"%%paddle_trace(?P<options>[ \t].*|)\s*$")
_BEGIN = "__paddle_lab_begin__"
_LATEST = "_trace"
_OPTIONS = ("--output", "--view", "--height", "--title", "--save", "--quiet")
_VIEWS = ("forward", "backward", "ladder")


class TraceMagics:
    """``%%paddle_trace`` in one IPython shell.

    Parameters
    ----------
    shell
        The shell whose cells are traced.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell: Any = shell
        self._depth = 0
        self._running: _RunningCell | None = None

    def register(self) -> None:
        """Make the magic known; loading the extension twice changes nothing."""
        shell = self._shell
        shell.register_magic_function(
            self.paddle_trace, magic_kind="cell", magic_name="paddle_trace"
        )
        shell.input_transformers_cleanup.append(self.transform)
        shell.events.register("pre_run_cell", self._enter_cell)
        shell.events.register("post_run_cell", self._leave_cell)
        shell.user_ns_hidden[_BEGIN] = self.begin
        shell.user_ns[_BEGIN] = self.begin

    def unregister(self) -> None:
        """Take the magic away again."""
        self._finish(None)
        shell = self._shell
        shell.magics_manager.magics["cell"].pop("paddle_trace", None)
        shell.input_transformers_cleanup.remove(self.transform)
        shell.events.unregister("pre_run_cell", self._enter_cell)
        shell.events.unregister("post_run_cell", self._leave_cell)
        shell.user_ns.pop(_BEGIN, None)
        shell.user_ns_hidden.pop(_BEGIN, None)

    @magic_arguments()
    @argument("-o", "--output", metavar="NAME", help="Bind the trace to this variable.")
    @argument(
        "--view",
        choices=_VIEWS,
        default="forward",
        help="The graph to show first: forward, backward, or both beside each other as a ladder.",
    )
    @argument(
        "--height",
        type=int,
        default=560,
        metavar="PX",
        help="Height of the view, 240 to 4000 pixels.",
    )
    @argument("--title", help="What the view calls the trace; the cell's number unless given.")
    @argument("--save", metavar="PATH", help="Also save the trace to this file.")
    @argument("-q", "--quiet", action="store_true", help="Record, but show nothing.")
    def paddle_trace(self, line: str, cell: str) -> Any:
        """Run a cell and show what it computed with PaddlePaddle: its graph, linked to its lines.

        The trace is also kept in the variable ``_trace``; if the cell raises, as far as it came.
        """
        # Reached only where the cell did not pass the transformation, as by run_cell_magic().
        self._shell.run_cell(f"%%paddle_trace {line}\n{cell}").raise_error()

    def transform(self, lines: list[str]) -> list[str]:
        """Replace a cell's first line ``%%paddle_trace …`` by a call that begins the trace."""
        match = _MAGIC_LINE.match(lines[0]) if lines else None
        if match is None or match["options"].rstrip().endswith("?"):
            return lines
        # Below it may stand another cell magic, whose turn among the transformations is over.
        return [f"{_BEGIN}({match['options'].strip()!r})\n", *cell_magic(lines[1:])]

    def begin(self, line: str) -> None:
        """Begin tracing the cell that calls this; traced cells call it on their first line."""
        options = _parse(self.paddle_trace, line)
        if self._running is not None:
            self._finish(None)
        frame = sys._getframe(1)  # noqa: SLF001  (CPython's documented way to the caller)
        _show_magic_line(frame.f_code.co_filename, line)
        # The shell's own count is one ahead of the running cell's from IPython 9 on.
        number = NotebookCells(self._shell).number(frame.f_code.co_filename)
        title = options.title or f"Cell {number}"
        recording = Recording(title=title, anchor=frame.f_back)
        try:
            trace = recording.__enter__()
        except ImportError as error:
            raise UsageError(str(error)) from None
        self._running = _RunningCell(recording, trace, options, self._depth)

    def _enter_cell(self, _info: Any) -> None:
        self._depth += 1
        self._shell.user_ns[_BEGIN] = self.begin  # %reset may have taken it away

    def _leave_cell(self, result: Any) -> None:
        self._depth = max(self._depth - 1, 0)
        # A cell that runs cells (%run, %%capture) ends later than they do.
        if self._running is not None and self._depth < max(self._running.depth, 1):
            error = getattr(result, "error_in_exec", None)
            self._finish(error if isinstance(error, BaseException) else None)

    def _finish(self, error: BaseException | None) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        running.recording.__exit__(type(error) if error else None, error, None)
        trace, options = running.trace, running.options
        self._shell.user_ns[_LATEST] = trace
        if options.output:
            self._shell.user_ns[options.output] = trace
        if options.save:
            _save(trace, options.save)
        if not options.quiet:
            _show(trace, options)


class _RunningCell:
    """The traced cell that is running."""

    def __init__(self, recording: Recording, trace: Trace, options: Namespace, depth: int) -> None:
        self.recording = recording
        self.trace = trace
        self.options = options
        self.depth = depth


def _parse(magic: Any, line: str) -> Namespace:
    try:
        # On Windows a backslash parts folders.
        words = shlex.split(line, posix=os.name == "posix")
    except ValueError as error:
        raise UsageError(f"%%paddle_trace: {error} in {line!r}") from None
    options, unknown = magic.parser.parse_known_args(words)
    if unknown:
        known = _OPTIONS
        near = difflib.get_close_matches(unknown[0], known, n=1)
        advice = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
        raise UsageError(f"%%paddle_trace has no option {unknown[0]}; {advice}")
    name = options.output
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise UsageError(f"%%paddle_trace: -o needs a variable name, and {name!r} is none")
    if not 240 <= options.height <= 4000:
        raise UsageError(f"%%paddle_trace: --height is 240 to 4000 pixels, not {options.height}")
    return cast("Namespace", options)


def _show_magic_line(file: str, line: str) -> None:
    """Let tracebacks show what was typed on the cell's first line, not the call it became."""
    entry = linecache.cache.get(file)
    if entry is not None and len(entry) == 4 and entry[2] and entry[2][0].startswith(_BEGIN):
        # A comment, since IPython parses the source that it shows.
        entry[2][0] = f"# %%paddle_trace {line}".rstrip() + "\n"


def _show(trace: Trace, options: Namespace) -> None:
    try:
        with collection_paused():
            display(trace.widget(view=options.view, height=options.height))
    except OSError as error:  # a checkout whose front end has not been built
        sys.stderr.write(f"The graph cannot be shown: {error}\n")


def _save(trace: Trace, path: str) -> None:
    try:
        trace.save(path)
    except OSError as error:
        message = f"The trace could not be saved to {path}: {error.strerror or error}\n"
        sys.stderr.write(message)


_REGISTERED: dict[int, TraceMagics] = {}


def register(shell: InteractiveShell) -> None:
    """Register the magics in ``shell``, once."""
    if id(shell) not in _REGISTERED:
        magics = TraceMagics(shell)
        magics.register()
        _REGISTERED[id(shell)] = magics


def unregister(shell: InteractiveShell) -> None:
    """Take the magics out of ``shell``."""
    magics = _REGISTERED.pop(id(shell), None)
    if magics is not None:
        magics.unregister()


def notebook_cells() -> NotebookCells | None:
    """Return the cells of the running shell, or ``None`` outside of IPython."""
    shell = get_ipython()
    return None if shell is None else NotebookCells(shell)
