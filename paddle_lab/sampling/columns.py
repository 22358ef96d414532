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
        self._told = [tuple(source.counters()) for source in sources]
        self.counters = tuple(counter for told in self._told for counter in told)
        """All counters so far, in the order of their columns."""
        self.version = 0
        """Raised whenever a counter is added or changes."""
        self._places = {_name(counter): place for place, counter in enumerate(self.counters)}
        self._of_sources = self._ordered()

    def ask(self) -> None:
        """Update the list of counters from the sources."""
        told = [tuple(source.counters()) for source in self._sources]
        if told == self._told:
            return
        counters = list(self.counters)
        for counter in (counter for each in told for counter in each):
            place = self._places.setdefault(_name(counter), len(counters))
            counters[place : place + 1] = [counter]
        self.counters = tuple(counters)
        self.version += 1
        self._told = told
        self._of_sources = self._ordered()

    def row(self, readings: Sequence[Sequence[int]]) -> list[int]:
        """Return one value a column.

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

    def _ordered(self) -> list[list[int]]:
        return [[self._places[_name(counter)] for counter in told] for told in self._told]


def _name(counter: Counter) -> tuple[str, str, str]:
    return counter.source, counter.device, counter.name
