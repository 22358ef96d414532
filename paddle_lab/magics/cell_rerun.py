"""A notebook cell that runs once more, unseen, for checks that compare two runs."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from types import CodeType
from typing import Any

from IPython.utils.capture import capture_output

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.rerun.comparison import Run
from paddle_lab.capture.rerun.reach import Unrepeatable, names_in
from paddle_lab.capture.rerun.runs import refusal, rerun
from paddle_lab.capture.rerun.state import StateBefore
from paddle_lab.trace.record import Record
from paddle_lab.words import say


class CellRerun:
    """A cell as it is before it runs, so that it can run again.

    Parameters
    ----------
    shell
        The shell that runs it.
    number
        The cell's execution count.
    checks
        The kinds of findings that need a second run.
    """

    def __init__(self, shell: Any, number: int, checks: Sequence[str]) -> None:
        self._shell = shell
        self._checks = checks
        self._state: StateBefore | None = None
        self._refusal = ""
        paddle = require_paddle()
        try:
            self._code = _code_of(shell, number)
            names = shell.user_ns
            roots = [names[name] for name in names_in(self._code) if name in names]
            self._state = StateBefore(paddle, roots, [names])
        except Exception as reason:  # noqa: BLE001  (the code itself is to run, whatever we lack)
            self._refusal = refusal(checks, reason)

    def finish(self, first: Run, error: BaseException | None) -> Record:
        """Run the cell again and return the record with what differed.

        Parameters
        ----------
        first
            The run that the user saw.
        error
            What ended it.
        """
        if error is not None and not self._refusal:
            self._refusal = refusal(self._checks, say("notices.unchecked.cell_error"))
        if self._refusal or self._state is None:
            first.record.origin.notices.append(self._refusal)
            return first.record
        with capture_output():
            return rerun(first, self._state, self._run, self._checks)

    def _run(self) -> None:
        exec(self._code, self._shell.user_ns)  # noqa: S102  (the user's own cell)


def _code_of(shell: Any, number: int) -> CodeType:
    names: dict[str, int] = shell.compile._filename_map  # noqa: SLF001  (as tracebacks find it)
    file = next((name for name in reversed(names) if names[name] == number), "")
    source = "".join(linecache.getlines(file))
    if not source:
        raise Unrepeatable(say("notices.unchecked.no_text"))
    tree = shell.transform_ast(ast.parse(source))
    try:
        code: CodeType = compile(tree, file, "exec", flags=shell.compile.flags, dont_inherit=True)
    except SyntaxError:
        raise Unrepeatable(say("notices.unchecked.awaits")) from None
    if "get_ipython" in names_in(code):
        raise Unrepeatable(say("notices.unchecked.magics"))
    return code
