"""A program's own record of its loops: the iteration in which each of its ops runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

Turns = tuple[str, ...]
"""Labels of the turns around an op, outermost first."""


class Ledger:
    """A program fills this ledger while it computes."""

    def __init__(self) -> None:
        self.ops: list[Turns] = []
        self._turns: list[str] = []

    @contextmanager
    def turn(self, label: str) -> Iterator[None]:
        """Run a ``with`` block as an iteration of a loop."""
        self._turns.append(label)
        try:
            yield
        finally:
            self._turns.pop()

    def op(self, count: int = 1) -> None:
        """Note ops that run next."""
        self.ops += [tuple(self._turns)] * count
