"""A fresh IPython shell with the extension loaded, for tests of magics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from tests.oracles import Bindings


@contextmanager
def fresh_shell(*, setup: str) -> Iterator[InteractiveShell]:
    """Yield the shell after ``setup`` has run; at the end nothing in Paddle may be bound anew."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "paddle_lab")
    shell.run_cell(setup, store_history=True).raise_error()
    bindings = Bindings()
    yield shell
    assert bindings.changed() == []
    shell.run_line_magic("unload_ext", "paddle_lab")
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> ExecutionResult:
    """Run a cell as a notebook does."""
    return shell.run_cell(cell, store_history=True)
