"""Notebook cells: which code belongs to a cell, the cell's number, and its text as typed.

Apart from the widgets and the magics, only this module imports Jupyter's packages. It is needed
because ``with paddle_lab.trace():`` must also know the cells.
"""

from __future__ import annotations

import linecache
import os
import sys
from typing import Any


class NotebookCells:
    """The cells that an IPython shell has run. The file name of a code object identifies its cell.

    Parameters
    ----------
    shell
        An ``IPython.core.interactiveshell.InteractiveShell``.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def number(self, file: str) -> int:
        """Return the execution count of a cell, -1 for a file that is not a cell."""
        names: dict[str, int] = getattr(self._shell.compile, "_filename_map", {})
        return names.get(file, -1)

    def text(self, file: str) -> str | None:
        """Return the text of a cell as typed, with magics; ``None`` for a file that is not a cell.

        IPython drops leading empty lines before it counts lines, and so does this method.
        """
        number = self.number(file)
        if number < 0:
            return None
        ran = linecache.getlines(file)
        history: list[str] = self._shell.history_manager.input_hist_raw
        typed = history[number] if 0 <= number < len(history) else ""
        lines = typed.splitlines(keepends=True)
        while lines and not lines[0].strip():
            del lines[0]
        # If a cell runs other code under its own number (%run), the typed text has fewer lines.
        return "".join(lines if len(lines) == len(ran) else ran)

    def notebook(self) -> str | None:
        """Return the notebook's path or, if it is unknown, the file with the kernel's ports."""
        kernel = getattr(self._shell, "kernel", None)
        if kernel is None:  # a terminal
            return None
        path = self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
        application = getattr(kernel, "parent", None)
        return path or getattr(application, "connection_file", None) or None

    def name_of(self, thing: object) -> str | None:
        """Return a variable of the notebook that holds an object; ``_`` begins the last choices."""
        names = [name for name, held in self._shell.user_ns.items() if held is thing]
        return min(names, key=lambda name: name.startswith("_"), default=None)


def cell_of(file: str) -> int | None:
    """Return the execution count of the cell that has this file name; ``None`` for others."""
    cells = running_cells()
    number = -1 if cells is None else cells.number(file)
    return None if number < 0 else number


def source_line(file: str, line: int) -> str:
    """Return the text of a line of a cell, ``""`` for a file that ``linecache`` has not read."""
    entry = linecache.cache.get(file)
    lines = entry[2] if entry is not None and len(entry) == 4 else []
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def running_notebook() -> str | None:
    """Return a text that identifies this kernel's notebook, also after a restart of the kernel.

    Return ``None`` outside of notebooks.
    """
    cells = running_cells()
    return None if cells is None else cells.notebook()


def running_cells() -> NotebookCells | None:
    """Return the cells of the running shell, ``None`` outside of IPython."""
    # If IPython was not imported, this is not a notebook. So do not import it.
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return None if shell is None else NotebookCells(shell)
