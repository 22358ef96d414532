"""The magics: thin, from arguments to the same public calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.magics.cell_magics import CellMagics
from paddle_lab.magics.idle_imports import import_when_idle
from paddle_lab.magics.memory_cell import MemoryCellMagic
from paddle_lab.magics.memory_line import MemoryLineMagic
from paddle_lab.magics.notebook_memory import NotebookMemory
from paddle_lab.magics.trace_cell import TraceCellMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Magics:
    """All magics of one IPython shell.

    Parameters
    ----------
    shell
        The shell whose cells are traced.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        memory = NotebookMemory(shell)
        self._line = MemoryLineMagic(shell, memory)
        self._cells = CellMagics(
            shell, [TraceCellMagic(shell, memory), MemoryCellMagic(shell, memory)]
        )

    def register(self) -> None:
        """Make the magics known."""
        self._cells.register()
        self._line.register()

    def unregister(self) -> None:
        """Take the magics away again."""
        self._cells.unregister()
        self._line.unregister()


_REGISTERED: dict[int, Magics] = {}


def register(shell: InteractiveShell) -> None:
    """Register the magics in ``shell``, once."""
    if id(shell) not in _REGISTERED:
        magics = Magics(shell)
        magics.register()
        _REGISTERED[id(shell)] = magics
        import_when_idle()


def unregister(shell: InteractiveShell) -> None:
    """Take the magics out of ``shell``."""
    magics = _REGISTERED.pop(id(shell), None)
    if magics is not None:
        magics.unregister()
