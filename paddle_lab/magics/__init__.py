"""The magics. They turn the user's options into calls of public functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_lab.magics.cell_magics import CellMagics
from paddle_lab.magics.checks_line import ChecksLineMagic
from paddle_lab.magics.flights import begin_flights
from paddle_lab.magics.idle_imports import import_when_idle
from paddle_lab.magics.memory.ledger_keeper import LedgerKeeper
from paddle_lab.magics.memory.live_chart import LiveChart
from paddle_lab.magics.memory.memory_line import MemoryLineMagic
from paddle_lab.magics.memory.notebook_memory import NotebookMemory
from paddle_lab.magics.ranks_magic import RanksMagic

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_REGISTERED: dict[int, tuple[CellMagics, MemoryLineMagic, RanksMagic, ChecksLineMagic]] = {}


def register(shell: InteractiveShell) -> None:
    """Register the magics in ``shell`` if they are not registered yet."""
    if id(shell) in _REGISTERED:
        return
    memory = NotebookMemory(shell)
    chart = LiveChart(memory)
    _REGISTERED[id(shell)] = (
        CellMagics(shell, memory, LedgerKeeper(memory, chart)),
        MemoryLineMagic(shell, memory, chart),
        RanksMagic(shell),
        ChecksLineMagic(shell),
    )
    for magic in _REGISTERED[id(shell)]:
        magic.register()
    import_when_idle()
    begin_flights(shell)


def unregister(shell: InteractiveShell) -> None:
    """Remove the magics from ``shell``."""
    for magic in _REGISTERED.pop(id(shell), ()):
        magic.unregister()
