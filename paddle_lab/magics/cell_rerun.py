"""A second, hidden run of a cell, for checks that compare two runs."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from types import CodeType
from typing import Any

from paddle_lab.capture.availability import require_paddle
from paddle_lab.capture.rerun.reach import Unrepeatable, names_in
from paddle_lab.capture.rerun.runs import Code, Rerun
from paddle_lab.capture.rerun.state import StateBefore
from paddle_lab.notebook_cells import running_cells
from paddle_lab.words import say


def cell_rerun(shell: Any, number: int, checks: Sequence[str]) -> Rerun:
    """Return an object that runs a cell a second time.

    Parameters
    ----------
    shell
        The shell that runs the cell.
    number
        The cell's execution count.
    checks
        The kinds of findings that need a second run.
    """
    paddle = require_paddle()

    def prepare() -> tuple[StateBefore, Code]:
        code, names = _code_of(shell, number), shell.user_ns
        roots = [names[name] for name in names_in(code) if name in names]
        state = StateBefore(paddle, roots, [names])
        return state, lambda: exec(code, names)  # noqa: S102  (the user's own cell)

    return Rerun(checks, prepare, running_cells())


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
