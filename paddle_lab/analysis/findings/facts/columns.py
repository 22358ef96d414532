"""A record whose columns are read entry by entry."""

from __future__ import annotations

from paddle_lab.trace.record import Record

Slices = tuple[list[int], list[int]]
"""Where the values of each row start, with the end of the last, and all values."""


class RecordColumns:
    """A record with answer tables, and its columns as lists.

    Parameters
    ----------
    record
        As :func:`paddle_lab.analysis.answers.with_answers` returns it.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self._columns: dict[tuple[str, str], list[int]] = {}
        self.derived: dict[type, object] = {}
        """What several checks derive of them, by its type; it goes when they go."""

    @property
    def op_count(self) -> int:
        """How many ops there are."""
        return len(self.record.ops)

    def column(self, table: str, column: str) -> list[int]:
        """Return a column of the record as a list: one entry of it costs a tenth of an array's."""
        known = self._columns.get((table, column))
        if known is None:
            known = self._columns[table, column] = self.record.tables[table][column].tolist()
        return known
