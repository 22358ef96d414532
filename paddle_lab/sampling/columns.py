"""Which column of a row belongs to which counter."""

from __future__ import annotations

from collections.abc import Sequence

from paddle_lab.sampling.counter import ABSENT, Counter, Source


class Columns:
    """The counters of all sources, each in a column that stays its own.

    Where a source adds a counter, those of the sources after it move; the new one gets the next
    free column instead.

    Parameters
    ----------
    sources
        Who counts.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self.counters: tuple[Counter, ...] = ()
        """All counters so far, in the order of their columns."""
        self.version = 0
        """Raised whenever a counter is added or changes."""
        self._places: dict[tuple[str, str, str], int] = {}
        self._told: list[tuple[Counter, ...]] = []
        self._of_sources: list[list[int]] = []
        self.ask()

    def ask(self) -> None:
        """Update the list of counters from the sources."""
        told = [tuple(source.counters()) for source in self._sources]
        if told == self._told:
            return
        self._told = told
        counters = list(self.counters)
        self._of_sources = []
        for each in told:
            columns = [self._places.setdefault(_name(one), len(self._places)) for one in each]
            for column, counter in zip(columns, each, strict=True):
                counters[column : column + 1] = [counter]
            self._of_sources.append(columns)
        self.counters = tuple(counters)
        self.version += 1

    def row(self, readings: Sequence[Sequence[int]]) -> list[int]:
        """Return one value for each column.

        Parameters
        ----------
        readings
            What each source read; fewer values where it has added counters since.
        """
        row = [ABSENT] * len(self.counters)
        for columns, values in zip(self._of_sources, readings, strict=True):
            for column, value in zip(columns, values, strict=False):
                row[column] = value
        return row


def _name(counter: Counter) -> tuple[str, str, str]:
    return counter.source, counter.device, counter.name
